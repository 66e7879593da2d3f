import type { KaryResponse } from "../privacy/kary-response.ts";
import type { RandomizedResponse } from "../privacy/randomized-response.ts";
import type { UnaryEncoding } from "../privacy/unary-encoding.ts";

/** One figure of a release. */
export interface Estimate {
  /** Unbiased; may be negative or exceed the number of devices. */
  readonly estimate: number;
  readonly standardError: number;
  /** 95%, from the normal approximation, which sums over a thousand devices and more justify. */
  readonly interval: readonly [low: number, high: number];
}

/** The two-sided 95% quantile of the normal distribution. */
const Z95 = 1.959963984540054;

/** An estimate whose error is as good as normal. */
export function normalEstimate(estimate: number, standardError: number): Estimate {
  return { estimate, standardError, interval: [estimate - Z95 * standardError, estimate + Z95 * standardError] };
}

/**
 * How many of n devices hold a 1, from the number y that reported one, where a 1 is reported with probability `ifOne`
 * and a 0 as 1 with probability `ifZero`: (y − n·ifZero)/(ifOne − ifZero). With S ones its variance is
 * (S·ifOne(1−ifOne) + (n−S)·ifZero(1−ifZero))/(ifOne−ifZero)², in which S is estimated too, unless both are equal.
 */
function estimateOnes(told: number, devices: number, ifOne: number, ifZero: number): Estimate {
  const slope = ifOne - ifZero;
  const estimate = (told - devices * ifZero) / slope;
  const ones = Math.min(Math.max(estimate, 0), devices);
  const variance = ones * ifOne * (1 - ifOne) + (devices - ones) * ifZero * (1 - ifZero);
  return normalEstimate(estimate, Math.sqrt(variance) / slope);
}

/** From sums of randomized responses. The standard error is √(n·e^ε)/(e^ε−1) whatever the truth. */
export function estimateFromResponses({ flip }: RandomizedResponse, told: number, devices: number): Estimate {
  return estimateOnes(told, devices, 1 - flip, flip);
}

/** From the number of K-ary responses that named this bucket. */
export function estimateFromKary({ keep, buckets }: KaryResponse, told: number, devices: number): Estimate {
  const decoy = (1 - keep) / buckets;
  return estimateOnes(told, devices, keep + decoy, decoy);
}

/** From the number of unary encodings in which this bucket's bit is set. */
export function estimateFromUnary({ noise }: UnaryEncoding, told: number, devices: number): Estimate {
  return estimateOnes(told, devices, 0.5, noise);
}

/** The mean of values to each of which noise of variance `noiseVariance` was added. */
export function estimateMean(sum: number, devices: number, noiseVariance: number): Estimate {
  return normalEstimate(sum / devices, Math.sqrt(noiseVariance / devices));
}
