import { describe, expect, it } from "vitest";
import { fastRandomness } from "../../test/fast-randomness.ts";
import { createDiscreteGaussian, drawDiscreteGaussian } from "../privacy/index.ts";
import { type Randomness, uniformBelow, withBufferedRandomness } from "../randomness/index.ts";
import { createTwoServerStatistic } from "../statistic/create-two-server.ts";
import { respondHistogram } from "../statistic/histogram/answer.ts";
import { bucketOf, histogramEstimates, histogramMechanism } from "../statistic/histogram/histogram.ts";
import type { ServerEstimates } from "../statistic/statistic.ts";
import { rankOf } from "./quantile.ts";

const FLEETS = 1000;
const DEVICES = 500;
const ASKED = [0.25, 0.5, 0.9];
const EDGES = [0, 1, 2, 4, 8, 16];

/**
 * A fleet around some count, narrow or wide. If it is `even`, exactly half of the devices are in or below a bucket,
 * which is the hardest case for the median: the least error moves it.
 */
function drawFleet(random: Randomness, even: boolean): number[] {
  const middle = uniformBelow(random, 20);
  const spread = 1 + uniformBelow(random, 12);
  const below = uniformBelow(random, EDGES.length - 1);
  return Array.from({ length: DEVICES }, (_, i) => {
    const bucket = bucketOf(EDGES, Math.max(0, middle + uniformBelow(random, 2 * spread + 1) - spread));
    if (!even) return bucket;
    return i < DEVICES / 2 ? Math.min(bucket, below) : Math.max(bucket, below + 1);
  });
}

/**
 * How often all intervals of a fleet cover together, and how many buckets they have beyond one. The seeds are fixed.
 * With other seeds, intervals that covered in 95% of all fleets would fall below 93.5% in one run of fifty; by the
 * proof in `quantile.ts` these cover more often.
 */
function checkCoverage(
  seed: string,
  estimates: Pick<ServerEstimates, "quantiles">,
  tell: (held: readonly number[], random: Randomness) => number[],
): void {
  withBufferedRandomness(fastRandomness(seed), (random) => {
    let together = 0;
    let width = 0;
    const each = ASKED.map(() => 0);
    for (let fleet = 0; fleet < FLEETS; fleet++) {
      const held = drawFleet(random, fleet % 2 === 0);
      const sorted = held.toSorted((a, b) => a - b);
      const found = estimates.quantiles?.(tell(held, random), DEVICES, ASKED) ?? [];
      const covered = found.map(({ q, low, high }) => {
        const truth = sorted[rankOf(q, DEVICES) - 1] as number;
        return low <= truth && truth <= high;
      });
      for (const [i, isCovered] of covered.entries()) if (isCovered) each[i] = (each[i] as number) + 1;
      if (covered.length === ASKED.length && covered.every(Boolean)) together++;
      width += found.reduce((sum, { low, high }) => sum + high - low, 0);
    }
    console.log(`${seed}: together ${together}, each ${each.join(" ")}, width ${width / FLEETS / ASKED.length}`);
    expect(together / FLEETS).toBeGreaterThanOrEqual(0.935);
    // Intervals of six buckets would cover anything.
    expect(width / FLEETS / ASKED.length).toBeLessThan(3);
  });
}

describe(`over ${FLEETS} fleets of ${DEVICES} devices the intervals of three quantiles cover at once`, () => {
  for (const mechanism of ["kary", "unary", "per-bucket"] as const) {
    it(mechanism, () => {
      const used = histogramMechanism({ ticks: 1, eventsPerTick: 1, edges: EDGES, localEpsilon: 2, mechanism });
      checkCoverage(mechanism, histogramEstimates(used), (held, random) => {
        const sums = EDGES.map(() => 0);
        for (const bucket of held) {
          for (const [b, told] of respondHistogram(used, bucket, random).entries())
            sums[b] = (sums[b] as number) + told;
        }
        return sums;
      });
    });
  }

  for (const sigma of [1.5, 12]) {
    it(`noise of two servers, σ = ${sigma}`, () => {
      const statistic = createTwoServerStatistic({
        statistic: "histogram",
        noise: "servers",
        ticks: 1,
        edges: EDGES,
        sigma,
      });
      const noise = createDiscreteGaussian(sigma);
      checkCoverage(`servers ${sigma}`, statistic, (held, random) => {
        const draw = (): number => Number(drawDiscreteGaussian(noise, random));
        return EDGES.map((_, bucket) => held.filter((each) => each === bucket).length + draw() + draw());
      });
    });
  }
});
