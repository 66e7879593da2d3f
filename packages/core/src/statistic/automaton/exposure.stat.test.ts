import { describe, expect, it } from "vitest";
import {
  below,
  type CoinScript,
  type Distribution,
  distributionOf,
  isAtMostExp,
  isWhole,
  largestRatio,
  logOf,
  outcome,
  SMALLEST_OTHER,
} from "../../../test/coins.ts";
import { fastRandomness } from "../../../test/fast-randomness.ts";
import { transparent } from "../../../test/transparent.ts";
import { split } from "../../bytes.ts";
import { createElGamalCounter, type DeviceKeyContext, deriveDeviceSecretKey, secret } from "../../encryption/index.ts";
import type { Randomness } from "../../randomness/index.ts";
import type { HistogramMechanism, HistogramMechanismName } from "../histogram/histogram.ts";
import type { DeviceSide } from "../statistic.ts";
import type { Automaton, CategoryOutput, TimedEvent } from "./automaton.ts";
import { type AutomatonAnswers, answersOf, encryptedAutomaton } from "./device.ts";
import { type EncryptedAutomaton, encryptedAutomata } from "./machine.ts";
import { automatonStatistic } from "./server.ts";

/**
 * The most that the report of an automaton shows to the holder of its key, as in `exposure.stat.test.ts` of the folder
 * above: for every stream of events up to a length, in every tick, the test walks through all coins of the device and
 * computes the exact probability of everything that opens. The largest ratio over all pairs of streams is at most e^ε₀.
 */
const WRITES = { ticks: 2, hides: 20 };
const categories = (count: number, categoryOf: (state: number) => number): CategoryOutput => ({
  kind: "category",
  categories: count,
  categoryOf,
});

/** A funnel of two steps, in this order. */
const funnel: Automaton = {
  states: 3,
  start: 0,
  events: ["opened", "paid"],
  periods: 1,
  periodTicks: 2,
  onEvent: (event, state) => (event === state ? state + 1 : state),
  onEnd: (state) => state,
  output: categories(3, (state) => state),
};
/** In which of two periods an event happened: the patterns 0 to 3. */
const retention: Automaton = {
  ...funnel,
  states: 4,
  events: ["used"],
  periods: 2,
  periodTicks: 1,
  onEvent: (_, state, period) => state | (1 << period),
  output: categories(4, (state) => state),
};
/** In how many of two periods: the last bit of a state says whether it happened in the running one. */
const activePeriods: Automaton = {
  ...retention,
  states: 6,
  onEvent: (_, state) => state | 1,
  onEnd: (state) => 2 * Math.min((state >> 1) + (state & 1), 2),
  output: categories(3, (state) => state >> 1),
};
/** The last of two options; a third event forgets it. Two states have the same category, and one category no state. */
const choice: Automaton = {
  ...funnel,
  states: 4,
  events: ["pdf", "png", "reset"],
  onEvent: (event) => [1, 2, 3][event] as number,
  output: categories(4, (state) => [0, 1, 2, 0][state] as number),
};
const AUTOMATA = { funnel, retention, activePeriods, choice };
const MECHANISMS: readonly HistogramMechanismName[] = ["kary", "unary", "per-bucket"];

/** All streams of up to this many events, in the order of time. */
function streamsOf({ events }: Automaton, most: number): TimedEvent[][] {
  const symbols = events.flatMap((_, event) => [0, 1].map((tick) => ({ event, tick })));
  let last: TimedEvent[][] = [[]];
  const all = [...last];
  for (let length = 1; length <= most; length++) {
    last = last.flatMap((stream) =>
      symbols.filter(({ tick }) => tick >= (stream.at(-1)?.tick ?? 0)).map((symbol) => [...stream, symbol]),
    );
    all.push(...last);
  }
  return all;
}

function* coinsOf(mechanism: HistogramMechanism): CoinScript {
  if (mechanism.name === "kary") {
    yield outcome(mechanism.keep);
    yield below(mechanism.buckets);
    return;
  }
  const [first, second] = mechanism.name === "unary" ? [mechanism.noise, 0.5] : [mechanism.flip, mechanism.flip];
  for (let b = 0; b < mechanism.buckets; b++) yield outcome(first, second);
}

const bytes = fastRandomness("before sealing");
/** Before sealing no mechanism draws. */
const noCoin: Randomness = (into) => {
  expect(into.length).toBeGreaterThanOrEqual(SMALLEST_OTHER);
  bytes(into);
};

function exposed(
  device: DeviceSide,
  key: Uint8Array,
  stream: readonly TimedEvent[],
  mechanism: HistogramMechanism,
  open: (report: Uint8Array) => string,
): Distribution {
  const recorder = device.start(key, noCoin);
  for (const { event, tick } of stream) {
    recorder.reach(tick);
    recorder.record(event);
  }
  const stored = recorder.write() as Uint8Array;
  const run = (random: Randomness) => ({ view: open(device.resume(key, stored, false, random).seal(stored)) });
  return distributionOf(() => coinsOf(mechanism), run, 1);
}

function expectAtMost(found: readonly Distribution[], epsilon: number, stated: number): void {
  for (const each of found) expect(isWhole(each)).toBe(true);
  const ratio = largestRatio(found);
  if (!ratio) throw new Error("some view is possible for one stream and not for another");
  expect(isAtMostExp(ratio, epsilon)).toBe(true);
  expect(logOf(ratio)).toBeCloseTo(stated, 9);
}

const mechanismOf = (answers: AutomatonAnswers): HistogramMechanism => {
  if (answers.kind !== "category") throw new Error("not categories");
  return answers.mechanism;
};
const openTransparent = (report: Uint8Array): string => new Int32Array(report.slice().buffer).join();

describe.each(Object.entries(AUTOMATA))("the report of %s shows at most ε₀ of any two streams", (_, automaton) => {
  it.each(MECHANISMS)("in the clear, %s", (name) => {
    for (const localEpsilon of [0.25, 1, 4]) {
      const answers = answersOf(automaton, { localEpsilon, mechanism: name });
      const mechanism = mechanismOf(answers);
      const device = encryptedAutomata(transparent, WRITES, [encryptedAutomaton(transparent, automaton, answers)]);
      const streams = streamsOf(automaton, 3);
      const found = streams.map((stream) => exposed(device, Uint8Array.of(0), stream, mechanism, openTransparent));
      expectAtMost(found, localEpsilon, mechanism.localEpsilon);
    }
  });

  it("on ElGamal, kary", () => {
    const { device, server } = automatonStatistic(automaton, { localEpsilon: 1, mechanism: "kary" }, WRITES);
    const master = secret(new Uint8Array(32).fill(7));
    const context: DeviceKeyContext = { task: "t", window: 0, device: new Uint8Array(16), role: "tally", index: 0 };
    const anyMessage = createElGamalCounter({ minimum: -40, maximum: 40 });
    const secretKey = deriveDeviceSecretKey(anyMessage, master, context);
    const open = (report: Uint8Array) =>
      split(report, report.length / 64)
        .map((ciphertext) => anyMessage.open(secretKey, ciphertext))
        .join();
    const mechanism = mechanismOf(answersOf(automaton, { localEpsilon: 1, mechanism: "kary" }));
    const key = server.issueKey(master, context);
    const found = streamsOf(automaton, 1).map((stream) => exposed(device, key, stream, mechanism, open));
    expectAtMost(found, 1, server.localEpsilon());
    for (const each of found) expect([...each.keys()].every((view) => /^\d$/.test(view))).toBe(true);
  });
});

describe("the enumeration finds what shows more", () => {
  it("a report with the slots as they are", () => {
    const answers = answersOf(funnel, { localEpsilon: 1, mechanism: "kary" });
    const honest = encryptedAutomaton(transparent, funnel, answers);
    const open: EncryptedAutomaton<number> = {
      ...honest,
      sealing: {
        length: 2,
        draw: (random) => (slots, e) => [...honest.sealing.draw(random)(slots, e), slots[1] as number],
      },
    };
    const device = encryptedAutomata(transparent, WRITES, [open]);
    const found = streamsOf(funnel, 2).map((stream) =>
      exposed(device, Uint8Array.of(0), stream, mechanismOf(answers), openTransparent),
    );
    expect(largestRatio(found)).toBeUndefined();
  });

  it("a decoy that is never the true category", () => {
    const answers = answersOf(funnel, { localEpsilon: 1, mechanism: "kary" });
    const honest = encryptedAutomaton(transparent, funnel, answers);
    const device = encryptedAutomata(transparent, WRITES, [
      {
        ...honest,
        sealing: {
          length: 1,
          draw: (random) => (slots, e) => {
            const [kept, told] = [2 * (slots.at(-1) as number), honest.sealing.draw(random)(slots, e)[0] as number];
            return [told === kept ? told : (told + 1) % 3];
          },
        },
      },
    ]);
    const found = streamsOf(funnel, 2).map((stream) =>
      exposed(device, Uint8Array.of(0), stream, mechanismOf(answers), openTransparent),
    );
    const ratio = largestRatio(found);
    expect(ratio !== undefined && isAtMostExp(ratio, 1)).toBe(false);
  });
});

it("the automata are what they say", () => {
  expect(streamsOf(funnel, 3)).toHaveLength(1 + 4 + 12 + 32);
});
