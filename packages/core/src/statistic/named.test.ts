import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { GeneralSettings, Target } from "./automaton/general.ts";
import type { Component } from "./joint/joint.ts";
import type { AnyShape, StatisticName } from "./spec.ts";
import type { EventStream } from "./stream.ts";
import { entryOf } from "./table.ts";

/*
 * Each named statistic against its definition in English, written here as plainly as possible, over all events of a
 * window at once and without any state. The statistics see the events one by one, as automata.
 */

const EVENTS = ["a", "b", "c", "d"] as const;
const TICKS = 24;

const event = fc.constantFrom(...EVENTS);
/** In the order in which it happened; "x" and "y" are events of other metrics. */
const stream: fc.Arbitrary<EventStream> = fc
  .array(fc.record({ tick: fc.nat(TICKS - 1), event: fc.constantFrom(...EVENTS, "x", "y") }), { maxLength: 30 })
  .map((events) => events.toSorted((one, other) => one.tick - other.tick));
const several = (least: number) => fc.shuffledSubarray([...EVENTS], { minLength: least });
const edges = fc
  .uniqueArray(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 4 })
  .map((begins) => [0, ...begins.toSorted((one, other) => one - other)]);

/** The category, by its label, in which a statistic puts a device. */
function labelOf(statistic: StatisticName, shape: AnyShape, events: EventStream): string {
  const { answers } = entryOf(statistic);
  const labels = answers.labels(shape);
  const answer = answers.answer({ ...shape, ticks: shape.ticks ?? TICKS }, events);
  expect(answer).toHaveLength(labels.length);
  expect(answer.toSorted()).toEqual([...new Array<number>(labels.length - 1).fill(0), 1]);
  return labels[answer.indexOf(1)] as string;
}

/** The bucket of a count, by its label. */
function bucketOf(begins: readonly number[], count: number): string {
  const from = Math.max(...begins.filter((edge) => edge <= count));
  const next = begins[begins.indexOf(from) + 1];
  if (next === undefined) return `${from}+`;
  return next - 1 === from ? `${from}` : `${from}–${next - 1}`;
}

/** The last step such that all steps up to it happened, one after another. */
function stoppedAt(steps: readonly string[], events: EventStream): string {
  const isIn = (wanted: readonly string[], names: readonly string[]): boolean => {
    const [first, ...others] = wanted;
    if (first === undefined) return true;
    const at = names.indexOf(first);
    return at >= 0 && isIn(others, names.slice(at + 1));
  };
  const names = events.map((each) => each.event);
  const reached = steps.filter((_, i) => isIn(steps.slice(0, i + 1), names)).length;
  return steps[reached - 1] ?? "none";
}

function chosen(options: readonly string[], keep: "first" | "last" | "highest", events: EventStream): string {
  const choices = events.map((each) => each.event).filter((name) => options.includes(name));
  if (keep === "highest") return options.findLast((option) => choices.includes(option)) ?? "none";
  return choices.at(keep === "first" ? 0 : -1) ?? "none";
}

/** The periods in which an event happened, from 0. */
function periodsWith(name: string, periodTicks: number, events: EventStream): ReadonlySet<number> {
  return new Set(events.filter((each) => each.event === name).map(({ tick }) => Math.floor(tick / periodTicks)));
}

function patternOf(name: string, periods: number, events: EventStream): string {
  const active = periodsWith(name, Math.ceil(TICKS / periods), events);
  return Array.from({ length: periods }, (_, period) => (active.has(period) ? "1" : "0")).join("");
}

/** The label of one side of a table. */
function sideOf(side: Component, events: EventStream): string {
  if (side.statistic === "funnel") return stoppedAt(side.steps, events);
  if (side.statistic === "choice") return chosen(side.options, side.keep ?? "first", events);
  const count = events.filter((each) => each.event === side.event).length;
  if (side.statistic === "occurrence") return count > 0 ? side.event : "none";
  if (side.statistic === "histogram") return bucketOf(side.edges, count);
  if (side.statistic === "retention") return patternOf(side.event, side.periods, events);
  return bucketOf(side.edges, periodsWith(side.event, side.periodTicks, events).size);
}

describe("a statistic is what its definition says", () => {
  const runs = { numRuns: 2000 };

  it("funnel: the last step that devices reached, in this order", () => {
    const property = fc.property(several(1), stream, (steps, events) => {
      expect(labelOf("funnel", { steps }, events)).toBe(stoppedAt(steps, events));
    });
    fc.assert(property, runs);
  });

  it.each(["first", "last", "highest"] as const)("choice: the %s option", (keep) => {
    const property = fc.property(several(1), stream, (options, events) => {
      expect(labelOf("choice", { options, keep }, events)).toBe(chosen(options, keep, events));
      if (keep === "first") expect(labelOf("choice", { options }, events)).toBe(chosen(options, "first", events));
    });
    fc.assert(property, runs);
  });

  it("active-periods: the number of periods with the event, whatever the length of the last one", () => {
    const property = fc.property(
      event,
      fc.integer({ min: 1, max: TICKS }),
      edges,
      stream,
      (name, length, begins, events) => {
        const shape = { event: name, periodTicks: length, edges: begins };
        const active = periodsWith(name, length, events).size;
        expect(labelOf("active-periods", shape, events)).toBe(bucketOf(begins, active));
      },
    );
    fc.assert(property, runs);
  });

  it.each([2, 3, 4])("retention: the pattern of %i periods", (periods) => {
    const property = fc.property(event, stream, (name, events) => {
      expect(labelOf("retention", { event: name, periods }, events)).toBe(patternOf(name, periods, events));
    });
    fc.assert(property, runs);
  });

  const side: fc.Arbitrary<Component> = fc.oneof(
    fc.record({ statistic: fc.constant("occurrence" as const), event }),
    fc.record({ statistic: fc.constant("histogram" as const), event, edges: fc.constantFrom([0, 1], [0, 1, 3]) }),
    fc.record({ statistic: fc.constant("funnel" as const), steps: several(1) }),
    fc.record({
      statistic: fc.constant("choice" as const),
      options: several(1),
      keep: fc.constantFrom("first" as const, "last" as const, "highest" as const),
    }),
    fc.record({
      statistic: fc.constant("active-periods" as const),
      event,
      periodTicks: fc.constantFrom(5, 6, 7, 12),
      edges: fc.constantFrom([0, 1], [0, 1, 2], [0, 2]),
    }),
    fc.record({ statistic: fc.constant("retention" as const), event, periods: fc.constantFrom(2, 3) }),
  );

  it("joint: what both sides say, whichever they are and however long their periods", () => {
    const property = fc.property(side, side, stream, (first, second, events) => {
      const expected = `${sideOf(first, events)} × ${sideOf(second, events)}`;
      expect(labelOf("joint", { of: [first, second] }, events)).toBe(expected);
    });
    fc.assert(property, { numRuns: 5000 });
  });
});

describe("an automaton is executed as its table says", () => {
  const STATES = ["s", "t", "u", "v", "constructor"];
  const state = fc.constantFrom(...STATES);
  const PERIODS = 4;
  const target: fc.Arbitrary<Target> = fc.oneof(state, fc.array(state, { minLength: PERIODS, maxLength: PERIODS }));
  const end = fc.dictionary(state, state);
  const settings: fc.Arbitrary<GeneralSettings> = fc.record({
    states: fc.constant(STATES),
    start: state,
    transitions: fc
      .dictionary(state, fc.dictionary(fc.constantFrom("a", "b", "constructor"), target), { minKeys: 1 })
      .filter((map) => Object.values(map).some((row) => Object.keys(row).length > 0)),
    outputs: fc
      .array(fc.constantFrom("p", "q", "r"), { minLength: STATES.length, maxLength: STATES.length })
      .filter((all) => new Set(all).size > 1)
      .map((all) => Object.fromEntries(STATES.map((name, i) => [name, all[i] as string]))),
    periodTicks: fc.constant(7),
    ends: fc.option(fc.oneof(end, fc.array(end, { minLength: PERIODS, maxLength: PERIODS })), { nil: undefined }),
  });

  /** Tick by tick, as a person would follow the table. */
  function follow({ start, transitions, ends = {} }: GeneralSettings, events: EventStream): string {
    let at = start;
    for (let tick = 0; tick < TICKS; tick++) {
      const period = Math.floor(tick / 7);
      for (const { event: name } of events.filter((each) => each.tick === tick)) {
        const row = new Map(Object.entries(transitions)).get(at) ?? {};
        const next = new Map(Object.entries(row)).get(name);
        at = (typeof next === "object" ? next[period] : next) ?? at;
      }
      const isLast = tick === TICKS - 1 || tick % 7 === 6;
      const map = Array.isArray(ends) ? ends[period] : ends;
      if (isLast) at = new Map(Object.entries(map as object)).get(at) ?? at;
    }
    return at;
  }

  it("with categories", () => {
    const property = fc.property(settings, stream, (shape, events) => {
      expect(labelOf("automaton", shape, events)).toBe(shape.outputs[follow(shape, events)]);
    });
    fc.assert(property, { numRuns: 5000 });
  });

  it("with numbers", () => {
    const property = fc.property(settings, stream, (shape, events) => {
      const outputs = Object.fromEntries(STATES.map((name, i) => [name, 3 * i - 5]));
      const { answers } = entryOf("automaton");
      const numbers = { ...shape, outputs, ticks: TICKS };
      expect(answers.labels(numbers)).toEqual([]);
      expect(answers.output(numbers)).toBe("average");
      expect(answers.answer(numbers, events)).toEqual([outputs[follow(shape, events)]]);
    });
    fc.assert(property, { numRuns: 1000 });
  });
});
