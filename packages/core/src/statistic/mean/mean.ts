import { clampTo, estimateMean } from "../../estimate/index.ts";
import { clampOf } from "../../privacy/accounting/clamped-sum.ts";
import { gaussianEpsilon } from "../../privacy/accounting/gaussian-sum.ts";
import {
  createDiscreteGaussian,
  type DiscreteGaussian,
  discreteGaussianVariance,
  drawDiscreteGaussian,
  MOST_SIGMA,
} from "../../privacy/discrete-gaussian.ts";
import type { Randomness } from "../../randomness/index.ts";
import { type CountSpec, checkCounts } from "../room.ts";
import { requireWhole, type ServerEstimates } from "../statistic.ts";
import { MOST_TICKS } from "../writes.ts";

/** The average over all devices of min(count, limit). */
export interface MeanSpec extends CountSpec {
  readonly limit: number;
  /** The standard deviation of a device's noise, in units of the limit. */
  readonly sigma: number;
}

/** The δ beside which a mean's local ε is stated. */
export const MEAN_DELTA = 1e-6;

export function checkMean({ limit, sigma, ...spec }: MeanSpec): void {
  checkCounts(spec);
  requireWhole("limit", limit, 1, MOST_TICKS);
  if (!(sigma > 0 && sigma * limit <= MOST_SIGMA)) {
    throw new RangeError(`sigma is a number above 0 and at most ${MOST_SIGMA / limit} at this limit, not ${sigma}`);
  }
}

/** Noise of standard deviation sigma·limit: the sensitivity is the limit, so the variance grows with its square. */
export function meanNoise({ sigma, limit }: MeanSpec): DiscreteGaussian {
  return createDiscreteGaussian(sigma * limit);
}

/**
 * What an opened answer counts as: itself, or the nearest value that the clamp allows. A report without noise, or with more than any honest one, cannot move
 * the sum by more than the limit and twice the clamp.
 */
export function clampedAnswer({ limit }: MeanSpec, noise: DiscreteGaussian, value: number): number {
  const clamp = clampOf(noise);
  return Math.min(Math.max(value, -clamp), limit + clamp);
}

/** A draw on "no event", as it counts. */
export function drawOnNoEvent(spec: MeanSpec, noise: DiscreteGaussian, random: Randomness): number {
  return clampedAnswer(spec, noise, Number(drawDiscreteGaussian(noise, random)));
}

/** ε at δ = 10⁻⁶ of one device's answer. */
function meanLocalEpsilon(spec: MeanSpec): number {
  const { sigma2 } = meanNoise(spec);
  return gaussianEpsilon({ sigma2, sensitivity: spec.limit, devices: 1 }, MEAN_DELTA);
}

/** What both schemes do with the noisy counts that devices told. */
export function meanEstimates(spec: MeanSpec): ServerEstimates {
  const variance = discreteGaussianVariance(meanNoise(spec));
  return {
    localEpsilon: () => meanLocalEpsilon(spec),
    mechanism: "discrete-gaussian",
    estimate: (sums, devices) => sums.map((sum) => estimateMean(sum, devices, variance)),
    consistent: (estimates) => estimates.map((estimate) => clampTo(spec.limit, estimate)),
  };
}
