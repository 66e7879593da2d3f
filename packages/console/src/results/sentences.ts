import { differencesOf, isAverage } from "@lethe/analyst";
import type { FigureDifference, GroupDifference, MetricDifference, ReleasedQuantile } from "@lethe/core/message";
import { decimal, percent, whole } from "../format/number.ts";

/** 97.5% and 80% quantiles of the normal distribution: 95% confidence, and a chance of 80% to see the difference. */
const [CONFIDENCE, POWER] = [1.959964, 0.841621];

/**
 * The difference between two groups that as many devices show with a chance of 80%.
 *
 * The estimate of a true difference d is normal around d with standard error s. The page calls a difference visible if
 * the estimate is further than 1.96 s from zero, which happens with probability Φ(d/s − 1.96). That is 80% if
 * d = (1.96 + 0.84) s.
 */
export function smallestVisible(standardError: number): number {
  return (CONFIDENCE + POWER) * standardError;
}

/**
 * How many devices each of two equal groups would need so that a difference of this size is visible with a chance of
 * 80%; undefined if the estimate is closer to zero than its standard error, because its size then says nothing.
 *
 * Every device adds its own spread and its own noise, so the variance of a difference is v/a + v/b with a and b devices
 * in the groups, if both have about the same v. So v = s² / (1/a + 1/b). With N devices in each group the variance is
 * 2v/N, and the difference d is visible if d = 2.80 √(2v/N); hence N = h (2.80 s/d)², where h = 2 / (1/a + 1/b) is the
 * harmonic mean. Where servers add the noise, it does not grow with N, and fewer devices are enough. The result is
 * rounded up to two digits.
 */
export function devicesNeeded(
  { estimate, standardError }: Pick<FigureDifference, "estimate" | "standardError">,
  [a, b]: readonly [number, number],
): number | undefined {
  if (!(Math.abs(estimate) >= standardError) || estimate === 0) return undefined;
  const mean = 2 / (1 / a + 1 / b);
  return roundedUp(mean * (smallestVisible(standardError) / Math.abs(estimate)) ** 2);
}

/** To two digits. */
function roundedUp(value: number): number {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(value)) - 1);
  return Math.ceil(value / unit - 1e-9) * unit;
}

/** What is known of a difference, in words. */
export interface DifferenceSentence {
  /** The category that it is about, if the metric has several. */
  readonly label: string | undefined;
  readonly isVisible: boolean;
  readonly text: string;
}

/** One sentence for every figure of a metric: how a group differs from another, or what it would take to see it. */
export function differenceSentences(
  { group, minus }: Pick<GroupDifference, "group" | "minus">,
  metric: MetricDifference,
  devices: readonly [number, number],
): DifferenceSentence[] {
  const isShare = !isAverage(metric);
  return differencesOf(metric).map((difference) => {
    const { label, interval } = difference;
    const isVisible = interval[0] > 0 || interval[1] < 0;
    const text = isVisible ? `${group} ${by(difference, isShare)} than ${minus}` : unseen(difference, isShare, devices);
    return { label, isVisible, text };
  });
}

/** "is higher by 3.1% ± 1.2"; shares are in percentage points. */
function by({ estimate, interval: [low, high] }: FigureDifference, isShare: boolean): string {
  const [size, half] = [Math.abs(estimate), (high - low) / 2];
  const amount = isShare
    ? `${percent(size)} ± ${decimal(100 * half, 1)} of the devices`
    : `${decimal(size, 3)} ± ${decimal(half, 3)}`;
  return `is ${estimate > 0 ? "higher" : "lower"} by ${amount}`;
}

function unseen(difference: FigureDifference, isShare: boolean, devices: readonly [number, number]): string {
  const size = (value: number): string => (isShare ? percent(value) : decimal(value, 3));
  const needed = devicesNeeded(difference, devices);
  if (needed !== undefined) {
    return `no difference is visible; it would take about ${whole(needed)} devices per group to see ${size(Math.abs(difference.estimate))}`;
  }
  return `no difference is visible; this many devices show one of ${size(smallestVisible(difference.standardError))} or more`;
}

/** "Half of the devices are at 2–4 or below (95%: 1 to 2–4)." */
export function quantileSentence({ q, bucket, low, high }: ReleasedQuantile): string {
  const who = q === 0.5 ? "Half" : percent(q, Number.isInteger(Number((100 * q).toFixed(6))) ? 0 : 1);
  const range = low === high ? `${low}` : `${low} to ${high}`;
  return `${who} of the devices are at ${bucket} or below (95%: ${range}).`;
}
