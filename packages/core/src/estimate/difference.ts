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
 * with equality if X is always a or b. So for shares of devices, where X is 0 or 1, the variance is exact, with μ
 * estimated; for means it is an upper bound, and intervals are wider than they need to be. Without this term, two
 * groups that do not differ would often seem to.
 *
 * No device is in both groups, so the two variances add up. Both errors are as good as normal, as for single figures.
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
  return standardError ** 2 + ((mean - least) * (greatest - mean)) / devices;
}
