import type { Estimate } from "./estimate.ts";
import { normalEstimate } from "./estimate.ts";
import { twoSidedTail } from "./p-value.ts";

/** How two groups of devices differ in one figure. */
export interface Difference extends Estimate {
  /**
   * Two-sided: how often an estimate that is at least as far from zero would come about if the groups did not differ.
   * It is below 0.05 exactly if the 95% interval leaves out zero.
   */
  readonly pValue: number;
}

/** A figure per device: a share of the devices, from 0 to 1, or a mean of values in a range. */
export interface PerDevice {
  readonly estimate: number;
  /** Of the mechanism's noise alone. */
  readonly standardError: number;
  readonly devices: number;
  /** The least and the greatest value that a device can have. */
  readonly range: readonly [least: number, greatest: number];
}

/**
 * By how much one group exceeds another, as an experiment asks it: the devices of a group are a sample of all devices
 * that could be in it, each with a value X in [a, b] of mean μ, independent of the others, and the difference is that of
 * the two μ.
 *
 * A group's estimate is the sample's mean plus noise that has mean 0 given the sample, so by the law of total variance
 * its variance is that of the noise, which `standardError` states, plus Var(X)/n. For X in [a, b]
 *
 *     (X − a)(b − X) ≥ 0,   so   E[X²] ≤ (a + b)·μ − a·b   and   Var(X) ≤ (μ − a)(b − μ),
 *
 * with equality if X is always a or b. So for shares of devices, where X is 0 or 1, the variance is exact if μ is known;
 * for means it is an upper bound, and intervals are wider than they need to be. Without this term, two groups that do
 * not differ would often seem to.
 *
 * μ is estimated as if each group had two more devices, one at either end of the range [AC00]. A small group in which
 * nothing happened would else seem to be certain of it: of 10 and 100 devices without noise, in which one in twenty has
 * the event, 45% of all pairs would seem to differ. With it at most 7.5% do in all cases that the test enumerates, and
 * for hundreds of devices it changes next to nothing. It never lowers the error.
 *
 * No device is in both groups, so the two variances add up. Both errors are as good as normal, as for single figures.
 *
 * [AC00] Agresti, Caffo, Simple and effective confidence intervals for proportions and differences of proportions result
 * from adding two successes and two failures, 2000.
 */
export function estimateDifference(one: PerDevice, other: PerDevice): Difference {
  const standardError = Math.sqrt(varianceOf(one) + varianceOf(other));
  const difference = normalEstimate(one.estimate - other.estimate, standardError);
  // Without any error, equal figures do not differ.
  return { ...difference, pValue: twoSidedTail(difference.estimate / standardError || 0) };
}

/** Of a group's estimate, around what holds for all devices that could be in it. */
function varianceOf({ estimate, standardError, devices, range: [least, greatest] }: PerDevice): number {
  const mean = Math.min(Math.max(estimate, least), greatest);
  const more = devices + 2;
  const shrunk = (devices * mean + least + greatest) / more;
  // That of the shrunk mean, (μ − a)(b − μ)/(n + 2), for the mean that is not.
  const drawn = ((shrunk - least) * (greatest - shrunk)) / more;
  return standardError ** 2 + drawn * (more / devices) ** 2;
}
