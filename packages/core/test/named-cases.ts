import type { Metric } from "../src/message/index.ts";
import { activePeriodsAutomaton } from "../src/statistic/active-periods/active-periods.ts";
import type { Automaton } from "../src/statistic/automaton/automaton.ts";
import { type AutomatonNoise, answersOf, encryptedAutomaton } from "../src/statistic/automaton/device.ts";
import { generalAutomaton } from "../src/statistic/automaton/general.ts";
import { encryptedAutomata } from "../src/statistic/automaton/machine.ts";
import { automatonServer } from "../src/statistic/automaton/server.ts";
import { choiceAutomaton } from "../src/statistic/choice/choice.ts";
import { funnelAutomaton } from "../src/statistic/funnel/funnel.ts";
import { jointAutomaton } from "../src/statistic/joint/joint.ts";
import { retentionAutomaton } from "../src/statistic/retention/retention.ts";
import type { DeviceSide, ServerSide } from "../src/statistic/statistic.ts";
import type { EventStream, StreamEvent } from "../src/statistic/stream.ts";
import type { WritesSpec } from "../src/statistic/writes.ts";
import { transparent } from "./transparent.ts";

/** Ticks of the windows in which these cases are tried; the last of four periods has one less. */
export const WRITES = { ticks: 7, hides: 0 } as const;

/** A metric of a statistic that is an automaton, without name and noise, and the automaton. */
export interface NamedCase {
  readonly statistic: Metric["statistic"];
  /** What a task says of it. */
  readonly settings: object;
  readonly automaton: Automaton;
}

function caseOf<Settings extends object>(
  statistic: Metric["statistic"],
  compile: (settings: Settings, place: WritesSpec) => Automaton,
  settings: Settings,
): NamedCase {
  return { statistic, settings, automaton: compile(settings, WRITES) };
}

/** One of each statistic with categories, at least three of them, and small enough to walk through. */
export const CATEGORY_CASES: readonly NamedCase[] = [
  caseOf("funnel", funnelAutomaton, { steps: ["a", "b"] }),
  caseOf("choice", choiceAutomaton, { options: ["a", "b"], keep: "highest" }),
  caseOf("active-periods", activePeriodsAutomaton, { event: "a", periodTicks: 2, edges: [0, 1, 3] }),
  caseOf("retention", retentionAutomaton, { event: "a", periods: 2 }),
  caseOf("joint", jointAutomaton, {
    of: [
      { statistic: "occurrence", event: "a" },
      { statistic: "choice", options: ["a", "b"], keep: "last" },
    ],
  }),
  caseOf("automaton", generalAutomaton, {
    states: ["calm", "busy", "over"],
    start: "calm",
    transitions: { calm: { a: ["busy", "busy", "over", "over"] }, busy: { b: "over" } },
    outputs: { calm: "calm", busy: "busy", over: "over" },
    periodTicks: 2,
    ends: { busy: "calm" },
  }),
];

/** An automaton whose outputs are numbers. */
export const NUMBER_CASE: NamedCase = caseOf("automaton", generalAutomaton, {
  states: ["start", "one", "two"],
  start: "start",
  transitions: { start: { a: "one" }, one: { a: "two", b: "start" } },
  outputs: { start: 1, one: -2, two: 3 },
});

/** Both halves of an automaton without encryption: the code of devices and servers, hundreds of times faster. */
export function inTheClear(automaton: Automaton, noise: AutomatonNoise): { device: DeviceSide; server: ServerSide } {
  const answers = answersOf(automaton, noise);
  return {
    device: encryptedAutomata(transparent, WRITES, [encryptedAutomaton(transparent, automaton, answers)]),
    server: automatonServer(transparent, automaton, answers),
  };
}

/** What a device stores at the end of a window in which this happened, if it writes after every `stride` ticks. */
export function storedAfter(
  device: DeviceSide,
  publicKey: Uint8Array,
  stream: EventStream,
  random: Parameters<DeviceSide["start"]>[1],
  stride = 1,
): Uint8Array {
  const recorder = device.start(publicKey, random);
  let stored: Uint8Array | undefined;
  for (let tick = 0; tick < WRITES.ticks; tick++) {
    recorder.reach(tick);
    for (const { event } of stream.filter((each) => each.tick === tick)) recorder.record(device.events.indexOf(event));
    if ((tick + 1) % stride === 0) stored = recorder.write();
  }
  return stored as Uint8Array;
}

/** All streams of up to `most` events at the given ticks. */
export function streamsOf({ events }: Automaton, most: number, ticks: readonly number[]): EventStream[] {
  let last: StreamEvent[][] = [[]];
  const all = [...last];
  for (let length = 1; length <= most; length++) {
    last = last.flatMap((stream) =>
      ticks
        .filter((tick) => tick >= (stream.at(-1)?.tick ?? 0))
        .flatMap((tick) => events.map((event) => [...stream, { tick, event }])),
    );
    all.push(...last);
  }
  return all;
}
