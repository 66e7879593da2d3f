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
import { multiple, openedBy } from "../../../test/shared-slots.ts";
import { deviceNumber, issueKeys } from "../../../test/two-server.ts";
import { decodePoint } from "../../encryption/elgamal/ristretto.ts";
import { createRandomizedResponse } from "../../privacy/randomized-response.ts";
import type { Randomness } from "../../randomness/index.ts";
import { createTwoServerStatistic } from "../create-two-server.ts";
import type { CollusionSpec } from "../spec.ts";
import { answeredCategories } from "./categories.ts";

/**
 * The most that a report shows to both servers together, with slots shared in the exponent. For streams of up to two
 * events the test walks through all coins of the device and computes the exact probability of everything that opens: x·G
 * of every slot, w·G apart, which is fresh in every slot and is checked to be in no two. The largest ratio over all
 * pairs of streams is at most e^ε₀, without any tolerance.
 */
const COMMON = { noise: "device", collusion: "one-server", ticks: 1, hides: 0 } as const;
const DEVICE = deviceNumber(1);
const KEY = issueKeys(DEVICE);
const NAMES = new Map([0n, 1n, 2n, -1n].map((m) => [multiple(m).toHex(), String(m)]));

const bytes = fastRandomness("before sealing");
/** Before sealing no mechanism draws. */
const noCoin: Randomness = (into) => {
  expect(into.length).toBeGreaterThanOrEqual(SMALLEST_OTHER);
  bytes(into);
};

function openTogether(report: Uint8Array): string {
  const [leader, helper] = [openedBy("leader", DEVICE, report), openedBy("helper", DEVICE, report)];
  expect(new Set(leader.map(({ element }) => element.join())).size).toBe(leader.length);
  return leader
    .map(({ element }, i) => {
      const sum = decodePoint(element).add(decodePoint(helper[i]?.element as Uint8Array));
      return NAMES.get(sum.toHex()) ?? sum.toHex();
    })
    .join();
}

function exposed(spec: CollusionSpec, stream: readonly number[], coins: () => CoinScript): Distribution {
  const device = createTwoServerStatistic(spec).device(new Uint8Array());
  const recorder = device.start(KEY, noCoin);
  for (const event of stream) recorder.record(event);
  const stored = recorder.write() as Uint8Array;
  return distributionOf(
    coins,
    (random) => ({ view: openTogether(device.resume(KEY, stored, false, random).seal(stored)) }),
    1,
  );
}

function* karyCoins(spec: Exclude<CollusionSpec, { statistic: "occurrence" }>): CoinScript {
  const { mechanism } = answeredCategories(spec);
  if (mechanism.name !== "kary") throw new Error("not K-ary response");
  yield outcome(mechanism.keep);
  yield below(mechanism.buckets);
}

function expectAtMost(found: readonly Distribution[], epsilon: number, stated: number): void {
  for (const each of found) expect(isWhole(each)).toBe(true);
  const ratio = largestRatio(found);
  if (!ratio) throw new Error("some view is possible for one stream and not for another");
  expect(isAtMostExp(ratio, epsilon)).toBe(true);
  expect(logOf(ratio)).toBeCloseTo(stated, 9);
}

const STREAMS = [[], [0], [1], [0, 1]];
const CATEGORIES = [
  { ...COMMON, statistic: "histogram", edges: [0, 1, 2], localEpsilon: 1 },
  { ...COMMON, statistic: "choice", options: ["x", "y"], keep: "last", localEpsilon: 1 },
  { ...COMMON, statistic: "funnel", steps: ["x", "y"], localEpsilon: 0.25 },
] as const;

describe("what both servers open shows at most ε₀", () => {
  it.each(CATEGORIES)("$statistic: one category, and nothing but 0 and 1", (spec) => {
    const streams = spec.statistic === "histogram" ? [[], [0], [0, 0]] : STREAMS;
    const found = streams.map((stream) => exposed(spec, stream, () => karyCoins(spec)));
    expectAtMost(found, spec.localEpsilon, createTwoServerStatistic(spec).localEpsilon());
    for (const each of found) expect([...each.keys()].toSorted()).toEqual(["0,0,1", "0,1,0", "1,0,0"]);
  });

  it("occurrence: a bit", () => {
    const spec: CollusionSpec = { ...COMMON, statistic: "occurrence", localEpsilons: [1] };
    const { flip } = createRandomizedResponse(1);
    function* coins(): CoinScript {
      yield outcome(flip, flip);
    }
    const found = [[], [0], [0, 0]].map((stream) => exposed(spec, stream, coins));
    expectAtMost(found, 1, createTwoServerStatistic(spec).localEpsilon());
    for (const each of found) expect([...each.keys()].toSorted()).toEqual(["0", "1"]);
  });
});
