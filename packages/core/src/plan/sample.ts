import { type Estimate, normalEstimate } from "../estimate/index.ts";
import { createDiscreteGaussian, drawDiscreteGaussian } from "../privacy/index.ts";
import type { Randomness } from "../randomness/index.ts";
import type { MetricPlan } from "../statistic/question.ts";

/** What of a plan says how wrong a figure is. */
export type PlannedError = Pick<MetricPlan, "standardError" | "largestStandardError">;

/**
 * The standard error of a figure whose true value is this: the variance rises linearly from an empty bucket to one in
 * which all devices are. Of other figures both are the same.
 */
export function standardErrorAt(
  { standardError, largestStandardError }: PlannedError,
  devices: number,
  value: number,
): number {
  const share = Math.min(Math.max(value / devices, 0), 1);
  return Math.sqrt(standardError ** 2 + share * (largestStandardError ** 2 - standardError ** 2));
}

/** Fine enough to look continuous: steps are a ten-thousandth of the standard error. */
const STEPS = 10_000;

/**
 * What a release could state for each of these true values: the error is drawn from the distribution that the plan
 * has, a normal one. For pictures of a plan, which are not results.
 */
export function drawSample(
  plan: PlannedError,
  devices: number,
  truths: readonly number[],
  random: Randomness,
): readonly Estimate[] {
  const normal = createDiscreteGaussian(STEPS);
  return truths.map((truth) => {
    const error = standardErrorAt(plan, devices, truth);
    return normalEstimate(truth + (error * Number(drawDiscreteGaussian(normal, random))) / STEPS, error);
  });
}
