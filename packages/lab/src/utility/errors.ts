import type { ServerSide } from "@lethe/core/statistic";
import { mean } from "../arithmetic/averages.ts";

/** Estimates beside the truth, over many runs of the same question. */
export interface Errors {
  /** Estimate − truth: for each run, of each answer. */
  readonly runs: readonly (readonly number[])[];
  /** What the estimator states for each answer, at the truth. */
  readonly stated: readonly number[];
  /** How many of a run's answers are independent: all, but of K-ary responses all but one, as they add up to the devices. */
  readonly independent: number;
}

export interface Comparison {
  readonly runs: number;
  /** Independent errors in all runs: of χ². */
  readonly freedom: number;
  /** Roots of mean squares over runs and answers. */
  readonly measured: number;
  readonly theory: number;
  readonly ratio: number;
  /** Between which the true ratio lies with a probability of `CONFIDENCE`. */
  readonly low: number;
  readonly high: number;
  /** The largest mean error of an answer, in units of its own standard error. */
  readonly bias: number;
}

/** Of each interval: some twenty of them are all right at once 499 times in 500. */
export const CONFIDENCE = 0.9999;
/** Its two-sided quantile of the normal distribution. */
const Z = 3.8906;

/**
 * The interval is that of normal errors. At ε₀ = 1 the squares of a few devices' errors scatter less (an answer's variance is at least
 * 1/6, from where on a coin's excess kurtosis is negative), so that it is too wide for small fleets rather than too narrow.
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

/** By Wilson and Hilferty's approximation: from 24 degrees of freedom on within a per cent of the deviation, on the side of wider intervals. */
function chiSquareQuantile(freedom: number, z: number): number {
  return freedom * (1 - 2 / (9 * freedom) + z * Math.sqrt(2 / (9 * freedom))) ** 3;
}

/**
 * The standard errors that the server's own estimator states where its estimate is the truth. Estimates are linear in the
 * sums of answers, so the sums that give the truth are found from two others.
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
