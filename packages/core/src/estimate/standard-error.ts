import type { Answers } from "../privacy/index.ts";

type HistogramMechanismName = Exclude<Answers["mechanism"], "randomized-response">;

/** The error of sums of randomized responses: √(n·e^ε)/(e^ε−1), whatever the truth. */
export function responseError(devices: number, localEpsilon: number): number {
  return Math.sqrt(devices) / (2 * Math.sinh(localEpsilon / 2));
}

/** Of one bucket's estimate. */
export interface BucketErrors {
  /** If no device is in the bucket. */
  readonly empty: number;
  /** If all are. */
  readonly full: number;
  /** The root of the mean square over all buckets; it does not depend on where the devices are. */
  readonly average: number;
  /** The count whose 95% interval is expected to begin at zero, with the error that it has itself. */
  readonly detectable: number;
}

/** The errors of a histogram by each mechanism; `ifOne` and `ifZero` are the probabilities of telling a 1. */
export function bucketErrors(
  mechanism: HistogramMechanismName,
  devices: number,
  buckets: number,
  localEpsilon: number,
): BucketErrors {
  const { ifOne, ifZero, ifOneNot } = tellingProbabilities(mechanism, buckets, localEpsilon);
  const slope = ifOne - ifZero;
  const full = (devices * ifOne * ifOneNot) / slope ** 2;
  const empty = (devices * ifZero * (1 - ifZero)) / slope ** 2;
  return {
    empty: Math.sqrt(empty),
    full: Math.sqrt(full),
    average: Math.sqrt((full + (buckets - 1) * empty) / buckets),
    detectable: detectableCount(empty, (full - empty) / devices),
  };
}

/** The two-sided 95% quantile of the normal distribution. */
export const Z95 = 1.959963984540054;

/** c = z·√(empty + c·each), where each device in the bucket adds `each` to the variance. */
function detectableCount(empty: number, each: number): number {
  const half = (Z95 * Z95 * each) / 2;
  return half + Math.sqrt(half * half + Z95 * Z95 * empty);
}

function tellingProbabilities(
  mechanism: HistogramMechanismName,
  buckets: number,
  localEpsilon: number,
): { ifOne: number; ifOneNot: number; ifZero: number } {
  if (mechanism === "kary") {
    const kappa = 1 / (Math.exp(localEpsilon) + buckets - 1);
    return { ifOne: Math.exp(localEpsilon) * kappa, ifOneNot: (buckets - 1) * kappa, ifZero: kappa };
  }
  if (mechanism === "unary") return { ifOne: 0.5, ifOneNot: 0.5, ifZero: 1 / (Math.exp(localEpsilon) + 1) };
  const flip = 1 / (1 + Math.exp(localEpsilon / 2));
  return { ifOne: 1 - flip, ifOneNot: flip, ifZero: flip };
}

/**
 * The error of the best known counter without cryptography that hides each device's state for information-theoretic
 * reasons, at the same ε: a randomized bit at every tick, summed up. It has √T times the error of one response [the
 * paper, § lower bound; efficient when nothing happens], and none is worse than always answering the middle of the
 * range.
 */
export function informationTheoreticError(standardError: number, ticks: number, range: number): number {
  return Math.min(Math.sqrt(ticks) * standardError, range / 2);
}
