import { describe, expect, it } from "vitest";
import { createDiscreteGaussian } from "../privacy/index.ts";
import { createTwoServerStatistic } from "../statistic/create-two-server.ts";
import { histogramEstimates, histogramMechanism } from "../statistic/histogram/histogram.ts";
import { gaussianTails } from "./cumulative-tails.ts";
import type { QuantileEstimate } from "./quantile.ts";
import { estimateQuantiles, rankOf } from "./quantile.ts";

type Quantiles = (sums: readonly number[], devices: number, asked: readonly number[]) => QuantileEstimate[];

const MECHANISMS = ["kary", "unary", "per-bucket"] as const;

function mechanismOf(name: (typeof MECHANISMS)[number], buckets: number, localEpsilon: number) {
  const edges = Array.from({ length: buckets }, (_, edge) => edge);
  return histogramMechanism({ ticks: 1, eventsPerTick: 1, edges, localEpsilon, mechanism: name });
}

type Mechanism = ReturnType<typeof mechanismOf>;

/** Every answer of a device in this bucket, with its probability, written down from what the mechanism is. */
function answersOf(mechanism: Mechanism, bucket: number): { answer: number[]; probability: number }[] {
  const { buckets } = mechanism;
  if (mechanism.name === "kary") {
    const decoy = (1 - mechanism.keep) / buckets;
    return Array.from({ length: buckets }, (_, told) => ({
      answer: Array.from({ length: buckets }, (_, b) => Number(b === told)),
      probability: decoy + (told === bucket ? mechanism.keep : 0),
    }));
  }
  const [ifOne, ifZero] = mechanism.name === "unary" ? [0.5, mechanism.noise] : [1 - mechanism.flip, mechanism.flip];
  return Array.from({ length: 2 ** buckets }, (_, bits) => {
    const answer = Array.from({ length: buckets }, (_, b) => (bits >> b) & 1);
    const probability = answer.reduce((product, bit, b) => {
      const one = b === bucket ? ifOne : ifZero;
      return product * (bit === 1 ? one : 1 - one);
    }, 1);
    return { answer, probability };
  });
}

/** The exact distribution of the sums that devices in these buckets tell. */
function sumsOf(mechanism: Mechanism, held: readonly number[]): Map<string, number> {
  let known = new Map([[new Array<number>(mechanism.buckets).fill(0).join(), 1]]);
  for (const bucket of held) {
    const next = new Map<string, number>();
    for (const [sums, weight] of known) {
      for (const { answer, probability } of answersOf(mechanism, bucket)) {
        const key = sums
          .split(",")
          .map((sum, b) => Number(sum) + (answer[b] as number))
          .join();
        next.set(key, (next.get(key) ?? 0) + weight * probability);
      }
    }
    known = next;
  }
  return known;
}

/** The first bucket up to which there are enough devices, found by sorting them. */
const trueQuantile = (held: readonly number[], q: number): number =>
  held.toSorted((a, b) => a - b)[rankOf(q, held.length) - 1] as number;

/** All ways in which n devices can be in these buckets, up to their order. */
function fleets(devices: number, buckets: number): number[][] {
  if (devices === 0) return [[]];
  return fleets(devices - 1, buckets).flatMap((held) =>
    Array.from({ length: buckets - (held.at(-1) ?? 0) }, (_, i) => [...held, (held.at(-1) ?? 0) + i]),
  );
}

/** The probability with which all intervals cover, over every outcome. */
function coverage(outcomes: Map<string, number>, held: readonly number[], asked: readonly number[], find: Quantiles) {
  let covered = 0;
  for (const [key, probability] of outcomes) {
    const found = find(key.split(",").map(Number), held.length, asked);
    for (const { bucket, low, high } of found) {
      expect(low <= bucket && bucket <= high).toBe(true);
    }
    const isCovered = found.every(({ q, low, high }) => {
      const truth = trueQuantile(held, q);
      return low <= truth && truth <= high;
    });
    if (isCovered) covered += probability;
  }
  return covered;
}

describe("the intervals of quantiles cover at once with at least 95%, by enumeration of every answer", () => {
  const findFor = (mechanism: Mechanism): Quantiles => {
    const { quantiles } = histogramEstimates(mechanism);
    if (!quantiles) throw new Error("a histogram has quantiles");
    return quantiles;
  };

  for (const name of MECHANISMS) {
    // Every distribution of few devices, the ends of the scale included, where all devices are in one bucket.
    it(`${name}: all fleets of 1 to 4 devices in three buckets`, () => {
      let [least, mean, fleetsSeen] = [1, 0, 0];
      for (const epsilon of [0.5, 3]) {
        const mechanism = mechanismOf(name, 3, epsilon);
        for (const devices of [1, 2, 3, 4]) {
          for (const held of fleets(devices, 3)) {
            const found = coverage(sumsOf(mechanism, held), held, [0.1, 0.5, 0.9], findFor(mechanism));
            least = Math.min(least, found);
            mean += found;
            fleetsSeen++;
          }
        }
      }
      expect(fleetsSeen).toBe(2 * (3 + 6 + 10 + 15));
      expect(least).toBeGreaterThanOrEqual(0.95);
      expect(mean / fleetsSeen).toBeLessThanOrEqual(1 + 1e-9);
    });
  }

  it("kary: 24 devices in two and three buckets, where some intervals are shorter than the scale", () => {
    for (const held of [
      [...Array<number>(20).fill(0), ...Array<number>(4).fill(1)],
      [...Array<number>(2).fill(0), ...Array<number>(3).fill(1), ...Array<number>(19).fill(2)],
    ]) {
      const mechanism = mechanismOf("kary", Math.max(...held) + 1, 3);
      const outcomes = sumsOf(mechanism, held);
      const find = findFor(mechanism);
      expect(coverage(outcomes, held, [0.5, 0.9], find)).toBeGreaterThanOrEqual(0.95);
      let certain = 0;
      for (const [key, probability] of outcomes) {
        const [median] = find(key.split(",").map(Number), held.length, [0.5]);
        if (median && median.low === median.high) certain += probability;
      }
      expect(certain).toBeGreaterThan(0.5);
    }
  });
});

describe("with noise of the servers", () => {
  const edges = [0, 1, 2];
  /** The exact distribution of noise of σ² from each of two servers, but for a probability of 1e-12. */
  function pairNoise(sigma2: number): { x: number; probability: number }[] {
    const reach = Math.ceil(8 * Math.sqrt(sigma2)) + 1;
    const values = Array.from({ length: 2 * reach + 1 }, (_, i) => i - reach);
    const weight = (x: number): number => Math.exp(-(x * x) / (2 * sigma2));
    const total = values.reduce((sum, x) => sum + weight(x), 0);
    const found = new Map<number, number>();
    for (const x of values) {
      for (const y of values) found.set(x + y, (found.get(x + y) ?? 0) + (weight(x) * weight(y)) / total ** 2);
    }
    return [...found].map(([x, probability]) => ({ x, probability })).filter(({ probability }) => probability > 1e-9);
  }

  // Below and above the width from which noise is taken for a wide one, which is 2.5.
  for (const sigma of [0.3, 1, 2.6]) {
    it(`of σ = ${sigma}: the intervals cover at once with at least 95%, by enumeration`, () => {
      const statistic = createTwoServerStatistic({ statistic: "histogram", noise: "servers", ticks: 1, edges, sigma });
      const noise = pairNoise(createDiscreteGaussian(sigma).sigma2);
      // The last bucket's noise decides nothing but the estimate.
      for (const held of [
        [30, 0, 0],
        [15, 15, 0],
        [3, 26, 1],
        [0, 0, 30],
      ] as const) {
        const devices = held.flatMap((count, bucket) => Array<number>(count).fill(bucket));
        const outcomes = new Map<string, number>();
        for (const first of noise) {
          for (const second of noise) {
            const sums = [held[0] + first.x, held[1] + second.x, held[2]];
            outcomes.set(sums.join(), first.probability * second.probability);
          }
        }
        const find = statistic.quantiles as Quantiles;
        expect(coverage(outcomes, devices, [0.5, 0.9], find)).toBeGreaterThanOrEqual(0.95);
      }
    });
  }

  it("tails are those of the exact distribution where it is narrow, and at most 5% above where it is wide", () => {
    for (const sigma2 of [0.3, 4, 7]) {
      const noise = pairNoise(sigma2);
      for (const x of [Math.ceil(2.5 * Math.sqrt(sigma2)), Math.ceil(4 * Math.sqrt(sigma2))]) {
        const exact = noise.reduce((sum, { x: at, probability }) => sum + (at >= x ? probability : 0), 0);
        const tails = gaussianTails([100 + x, 0], sigma2, 2);
        const found = tails.atLeast(0, 100);
        expect(gaussianTails([100 - x, 0], sigma2, 2).atMost(0, 100)).toBe(found);
        expect(found).toBeGreaterThanOrEqual(exact * (1 - 1e-6));
        expect(found).toBeLessThan(exact * (sigma2 > 6 ? 1.05 : 1 + 1e-5) + 2e-9);
      }
    }
  });
});

describe("estimates of quantiles", () => {
  const sure = { atMost: () => 0.5, atLeast: () => 0.5 };

  it("are the first bucket up to which there are enough devices", () => {
    const find = (consistent: readonly number[], asked: readonly number[]): number[] =>
      estimateQuantiles({ devices: 100, consistent, tails: sure }, asked).map(({ bucket }) => bucket);
    expect(find([7, 43, 50], [0.01, 0.07, 0.071, 0.5, 0.501, 0.99])).toEqual([0, 0, 1, 1, 2, 2]);
    expect(find([0, 0, 100], [0.01, 0.99])).toEqual([2, 2]);
    expect(find([100, 0, 0], [0.01, 0.99])).toEqual([0, 0]);
  });

  it("have ranks that rounding does not move", () => {
    expect([0.07, 0.29, 0.55, 0.9].map((q) => rankOf(q, 100))).toEqual([7, 29, 55, 90]);
    expect([rankOf(0.001, 10), rankOf(0.999, 1), rankOf(0.9, 1e9)]).toEqual([1, 1, 9e8]);
  });

  it("of 10⁶ devices in 50 buckets take no more than seconds", () => {
    const mechanism = mechanismOf("unary", 50, 1);
    const sums = Array.from({ length: 50 }, () => Math.round(1e6 * (mechanism.name === "unary" ? mechanism.noise : 0)));
    sums[20] = 600_000;
    const start = performance.now();
    const found = histogramEstimates(mechanism).quantiles?.(sums, 1e6, [0.25, 0.5, 0.75]);
    expect(performance.now() - start).toBeLessThan(10_000);
    expect(found?.map(({ bucket }) => bucket)).toEqual([20, 20, 20]);
  });
});
