import { describe, expect, it } from "vitest";
import {
  below,
  type CoinScript,
  distributionOf,
  isAtMostExp,
  isWhole,
  largestRatio,
  logOf,
  outcome,
  SMALLEST_OTHER,
} from "../../test/coins.ts";
import { fastRandomness } from "../../test/fast-randomness.ts";
import { CATEGORY_CASES, inTheClear, storedAfter, streamsOf, WRITES } from "../../test/named-cases.ts";
import { split } from "../bytes.ts";
import { createElGamalCounter } from "../encryption/elgamal/elgamal.ts";
import { type DeviceKeyContext, deriveDeviceSecretKey, secret } from "../encryption/index.ts";
import type { Randomness } from "../randomness/index.ts";
import { createStatistic } from "./create.ts";
import { categoryMechanism, type HistogramMechanism, MECHANISMS } from "./histogram/histogram.ts";
import type { StatisticSpec } from "./spec.ts";
import type { DeviceSide } from "./statistic.ts";
import type { EventStream } from "./stream.ts";

/*
 * The most that the report of a statistic shows to the server that holds all keys, as in `exposure.stat.test.ts`: for
 * every stream of events the test walks through all coins of the device, and computes the exact probability of all that
 * opens. The largest ratio over all pairs of streams is at most e^ε₀, without any tolerance.
 */
const master = secret(new Uint8Array(32).fill(7));
const context: DeviceKeyContext = { task: "exposure", window: 0, device: new Uint8Array(16), role: "tally", index: 0 };
const bytes = fastRandomness("before sealing");
/** Before sealing no mechanism draws anything. */
const noCoin: Randomness = (into) => {
  expect(into.length).toBeGreaterThanOrEqual(SMALLEST_OTHER);
  bytes(into);
};

/** The draws of a device when it seals. */
function* coins(mechanism: HistogramMechanism): CoinScript {
  if (mechanism.name === "kary") {
    yield outcome(mechanism.keep);
    yield below(mechanism.buckets);
    return;
  }
  const [first, second] = mechanism.name === "unary" ? [mechanism.noise, 0.5] : [mechanism.flip, mechanism.flip];
  for (let b = 0; b < mechanism.buckets; b++) yield outcome(first, second);
}

/** Asserts that the reports of all streams together show at most ε₀, and what the mechanism states, to nine digits. */
function expectExposure(
  { device, publicKey, open }: { device: DeviceSide; publicKey: Uint8Array; open: (report: Uint8Array) => string },
  streams: readonly EventStream[],
  mechanism: HistogramMechanism,
  epsilon: number,
): void {
  const found = streams.map((stream) => {
    const stored = storedAfter(device, publicKey, stream, noCoin);
    const seal = (random: Randomness) => ({ view: open(device.resume(publicKey, stored, false, random).seal(stored)) });
    return distributionOf(() => coins(mechanism), seal, 1);
  });
  for (const each of found) expect(isWhole(each)).toBe(true);
  const ratio = largestRatio(found);
  if (!ratio) throw new Error("some view is possible for one stream and not for another");
  expect(isAtMostExp(ratio, epsilon)).toBe(true);
  expect(logOf(ratio)).toBeCloseTo(mechanism.localEpsilon, 9);
}

const cases = CATEGORY_CASES.flatMap((each) =>
  MECHANISMS.map((name) => {
    const { output } = each.automaton;
    const categories = output.kind === "category" ? output.categories : 0;
    const noiseOf = (localEpsilon: number) => ({ localEpsilon, mechanism: name }) as const;
    return { ...each, name, categories, noiseOf };
  }),
);

describe("a report shows at most ε₀ to the server that opens it", () => {
  it.each(cases)(
    "$statistic, $name, without encryption: all streams of up to three events, in all periods",
    ({ automaton, categories, noiseOf }) => {
      for (const epsilon of [0.25, 4]) {
        const { device } = inTheClear(automaton, noiseOf(epsilon));
        const open = (report: Uint8Array): string => new Int32Array(report.slice().buffer).join();
        const streams = streamsOf(automaton, categories > 4 ? 2 : 3, [0, 2, 4, 6]);
        const mechanism = categoryMechanism(categories, noiseOf(epsilon));
        expectExposure({ device, publicKey: Uint8Array.of(0), open }, streams, mechanism, epsilon);
      }
    },
  );

  // Every ciphertext of every outcome is opened: too many where each of six categories has its own three outcomes.
  const onElGamal = cases.filter(({ categories, name }) => categories <= 4 || name === "kary");

  it.each(onElGamal)(
    "$statistic, $name, on ElGamal, all that opens",
    ({ statistic, settings, automaton, categories, name, noiseOf }) => {
      const anyMessage = createElGamalCounter({ minimum: -40, maximum: 40 });
      const key = deriveDeviceSecretKey(anyMessage, master, context);
      const spec = { statistic, ...settings, ...noiseOf(1), ...WRITES } as StatisticSpec;
      const { device, server } = createStatistic("elgamal", spec);
      const open = (report: Uint8Array): string =>
        split(report, report.length / 64)
          .map((each) => anyMessage.open(key, each))
          .join();
      const streams = streamsOf(automaton, name === "kary" ? 2 : 1, [0, 6]);
      const publicKey = server.issueKey(master, context);
      expectExposure({ device, publicKey, open }, streams, categoryMechanism(categories, noiseOf(1)), 1);
    },
  );
});
