import { requireWhole } from "../../error.ts";
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
import type { NamedMetric, Types } from "../spec.ts";
import { MEAN_DELTA, type ServerEstimates } from "../statistic.ts";
import { MOST_TICKS } from "../writes.ts";

/** Numbers that devices tell with noise. */
export interface NoisyNumbers {
  /** The smallest of them; 0 if absent. */
  readonly minimum?: number;
  /** The largest of them. */
  readonly limit: number;
  /** The standard deviation of a device's noise, in units of the largest difference of two of them. */
  readonly sigma: number;
}

/** The average over all devices of min(count, limit). */
export interface MeanSpec extends CountSpec, Omit<NoisyNumbers, "minimum"> {}

/** The same with the servers' noise. */
interface CountedMeanSpec extends CountSpec {
  readonly noise: "servers";
  readonly limit: number;
  /** The standard deviation of a server's noise in the sum, in units of the limit. */
  readonly sigma: number;
}

/** The noise is that of the device, or of each of two servers. */
export interface MeanMetric extends NamedMetric {
  readonly statistic: "mean";
  readonly noise?: never;
  readonly limit: number;
  /** In units of the limit. */
  readonly sigma: number;
  /**
   * How many events between two writes are counted: on lattices, which have no room for more; elsewhere there is no
   * limit.
   */
  readonly eventsPerTick?: number | undefined;
}

type Named = { readonly statistic: "mean" };

/** The types of this statistic, for the list in `table.ts`. With two servers its noise is always the servers'. */
export interface MeanTypes extends Types {
  readonly metric: MeanMetric;
  readonly schemes: "lattice" | "elgamal";
  readonly oneServer: Named & MeanSpec;
  readonly twoServers: Named & CountedMeanSpec;
  readonly shape: { readonly event?: string | undefined; readonly limit?: number };
  readonly output: "average";
}

/** Refuses a specification that cannot run, with a `RangeError`. */
export function checkMean({ limit, sigma, ...spec }: MeanSpec): void {
  checkCounts(spec);
  requireWhole("limit", limit, 1, MOST_TICKS);
  requireSigma({ limit, sigma });
  // An operator may have signed one: it would shrink the noise, and nobody would pay for that.
  if ("minimum" in spec) throw new RangeError("minimum is not for means: counts begin at 0");
}

/** Refuses noise that cannot be drawn, with a `RangeError`. */
export function requireSigma({ minimum = 0, limit, sigma }: NoisyNumbers): void {
  const most = MOST_SIGMA / (limit - minimum);
  if (!(sigma > 0 && sigma <= most)) {
    throw new RangeError(`sigma is a number above 0 and at most ${most} at this limit, not ${sigma}`);
  }
}

/**
 * Noise of standard deviation sigma·(limit − minimum): that is the sensitivity, so the variance grows with its square.
 */
export function meanNoise({ sigma, minimum = 0, limit }: NoisyNumbers): DiscreteGaussian {
  return createDiscreteGaussian(sigma * (limit - minimum));
}

/**
 * What an opened answer counts as: itself, or the nearest value that the clamp allows. A report without noise, or with
 * more than any honest one, cannot move the sum by more than the limit and twice the clamp.
 */
export function clampedAnswer({ minimum = 0, limit }: NoisyNumbers, noise: DiscreteGaussian, value: number): number {
  const clamp = clampOf(noise);
  return Math.min(Math.max(value, minimum - clamp), limit + clamp);
}

/** A draw on "no event", where the number is this one, as it counts. */
export function drawOnNoEvent(numbers: NoisyNumbers, noise: DiscreteGaussian, random: Randomness, number = 0): number {
  return clampedAnswer(numbers, noise, number + Number(drawDiscreteGaussian(noise, random)));
}

/** The nearest means that could be true. */
export function consistentMeans({ minimum = 0, limit }: NoisyNumbers): ServerEstimates["consistent"] {
  return (estimates) => estimates.map((estimate) => minimum + clampTo(limit - minimum, estimate - minimum));
}

/** What both schemes do with the noisy counts that devices told. */
export function meanEstimates(spec: NoisyNumbers): ServerEstimates {
  const noise = meanNoise(spec);
  const variance = discreteGaussianVariance(noise);
  const sensitivity = spec.limit - (spec.minimum ?? 0);
  return {
    localEpsilon: (delta = MEAN_DELTA) => gaussianEpsilon({ sigma2: noise.sigma2, sensitivity, devices: 1 }, delta),
    mechanism: "discrete-gaussian",
    estimate: (sums, devices) => sums.map((sum) => estimateMean(sum, devices, variance)),
    consistent: consistentMeans(spec),
  };
}
