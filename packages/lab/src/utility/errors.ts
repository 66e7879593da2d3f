import type { ServerSide } from "@lethe/core/statistic";
import { mean } from "../arithmetic/averages.ts";

/** Errors of estimates over many runs of the same question. */
export interface Errors {
  /** Estimate − truth, for each run and each answer. */
  readonly runs: readonly (readonly number[])[];
  /** The standard error that the estimator states for each answer, at the truth. */
  readonly stated: readonly number[];
  /**
   * How many answers of a run are independent: all, or for K-ary responses all but one, because they add up to the
   * devices.
   */
  readonly independent: number;
}

/** Measured errors beside stated ones. */
export interface Comparison {
  readonly runs: number;
  /** Independent errors in all runs: the degrees of freedom of χ². */
  readonly freedom: number;
  /** Roots of mean squares over runs and answers. */
  readonly measured: number;
  readonly theory: number;
  readonly ratio: number;
  /** The true ratio is between `low` and `high` with a probability of `CONFIDENCE`. */
  readonly low: number;
  readonly high: number;
  /** The largest mean error of an answer, divided by the standard error of that mean. */
  readonly bias: number;
}

/** Of each interval: some twenty of them all hold at once 499 times in 500. */
export const CONFIDENCE = 0.9999;
/** The two-sided quantile of the normal distribution for it. */
const Z = 3.8906;

/**
 * Compares measured errors with stated ones. The interval is that of normal errors. At ε₀ = 1 the squares of a few
 * devices' errors scatter less (an answer's variance is at least 1/6, and from there on a coin's excess kurtosis is
 * negative), so the interval is too wide for small fleets rather than too narrow.
 */
export function compare({ runs, stated, independent }: Errors): Comparison {
  const squares = runs.map((errors) => mean(errors.map((error) => error ** 2)));
  const measured = Math.sqrt(mean(squares));
  const theory = Math.sqrt(mean(stated.map((error) => error ** 2)));
  const ratio = measured / theory;
  const freedom = runs.length * independent;
  const biases = stated.map(
    (error, answer) => (mean(runs.map((errors) => errors[answer] as number)) * Math.sqrt(runs.length)) / error,
  );
  return {
    runs: runs.length,
    freedom,
    measured,
    theory,
    ratio,
    low: ratio / Math.sqrt(chiSquareQuantile(freedom, Z) / freedom),
    high: ratio / Math.sqrt(chiSquareQuantile(freedom, -Z) / freedom),
    bias: biases.reduce((most, bias) => (Math.abs(bias) > Math.abs(most) ? bias : most), 0),
  };
}

/**
 * By Wilson and Hilferty's approximation: from 24 degrees of freedom on within 1% of the deviation, on the side of
 * wider intervals.
 */
function chiSquareQuantile(freedom: number, z: number): number {
  return freedom * (1 - 2 / (9 * freedom) + z * Math.sqrt(2 / (9 * freedom))) ** 3;
}

/**
 * The standard errors that the server's own estimator states where its estimate is the truth. Estimates are linear in
 * the sums of answers, so the sums that give the truth follow from two others.
 */
export function statedAt(
  { estimate }: Pick<ServerSide, "estimate">,
  truth: readonly number[],
  devices: number,
): number[] {
  const at = (sum: number): number[] =>
    estimate(new Array<number>(truth.length).fill(sum), devices).map((e) => e.estimate);
  const none = at(0);
  const all = at(devices);
  const sums = truth.map((value, i) => {
    const [low, high] = [none[i] as number, all[i] as number];
    return (devices * (value - low)) / (high - low);
  });
  return estimate(sums, devices).map(({ standardError }) => standardError);
}
