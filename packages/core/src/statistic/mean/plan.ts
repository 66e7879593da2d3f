import { requireWhole } from "../../error.ts";
import { informationTheoreticError, Z95 } from "../../estimate/index.ts";
import { requireEpsilon } from "../../privacy/epsilon.ts";
import {
  boundedEpsilon,
  type Charge,
  type ClampedSum,
  clampedCharge,
  clampOf,
  composedEpsilon,
  createDiscreteGaussian,
  discreteGaussianVariance,
  gaussianCharge,
  gaussianEpsilon,
  hijackedMeanCharge,
  isSummedExactly,
  sigmaFor,
} from "../../privacy/index.ts";
import type { PlanningPart } from "../entry.ts";
import type { MetricPlan, Question, Settings } from "../question.ts";
import { MOST_TICKS, writesIn } from "../writes.ts";
import { type MeanSpec, type MeanTypes, meanNoise } from "./mean.ts";

function planMean(question: Question): MetricPlan {
  const { devices, reporting, ticks, goal, limit } = question;
  const { delta } = goal;
  const sigma = sigmaOf(question);
  const noise = createDiscreteGaussian(sigma * limit);
  const sum = { sigma2: noise.sigma2, sensitivity: limit };
  const standardError = Math.sqrt(discreteGaussianVariance(noise) / devices);
  const spec = meanSpecOf(question, sigma);
  return {
    mechanism: "discrete-gaussian",
    localEpsilon: "localEpsilon" in goal ? goal.localEpsilon : gaussianEpsilon({ ...sum, devices: 1 }, delta),
    epsilon: "epsilon" in goal ? goal.epsilon : gaussianEpsilon({ ...sum, devices: reporting }, delta),
    delta,
    bound: isSummedExactly({ ...sum, devices: reporting }) ? "exact" : "upper",
    reporting,
    hijackedEpsilon: boundedEpsilon([hijackedMeanCharge(hijackedSum(spec, reporting))], delta),
    standardError,
    largestStandardError: standardError,
    detectable: Z95 * standardError,
    sigma,
    informationTheoreticStandardError: informationTheoreticError(standardError, ticks, limit),
    spec,
  };
}

function sigmaOf({ goal, limit, reporting }: Question): number {
  if ("sigma" in goal) return goal.sigma;
  if ("localEpsilon" in goal) return sigmaFor(goal.localEpsilon, goal.delta, limit);
  return sigmaFor(goal.epsilon, goal.delta, limit, reporting);
}

function noiseOf(spec: MeanSpec): { sigma2: number; sensitivity: number } {
  return { sigma2: meanNoise(spec).sigma2, sensitivity: spec.limit };
}

/** The noise that hides a captured state: that of all honest devices but the one it was captured from. */
function hijackedSum(spec: MeanSpec, reporting: number): ClampedSum {
  const noise = noiseOf(spec);
  return { ...noise, clamp: clampOf(noise), devices: reporting - 1 };
}

/** A device's answer is clamped after its noise, so its own δ holds; and that of the sum of many clamped ones. */
function meanCharge(spec: MeanSpec, devices: number, times: number): Charge {
  const alone = gaussianCharge({ ...noiseOf(spec), devices: 1 }, times);
  if (devices === 1) return alone;
  const sum = { ...noiseOf(spec), devices };
  const together = clampedCharge({ ...sum, clamp: clampOf(sum) });
  return { times, delta: (epsilon) => Math.min(alone.delta(epsilon), together.delta(epsilon)) };
}

/** What a device runs that is set up like this. */
export function meanSpecOf(settings: Settings, sigma: number): MeanTypes["oneServer"] {
  const { limit, eventsPerTick = 1 } = settings;
  return { statistic: "mean", ...writesIn(settings), eventsPerTick, limit, sigma };
}

/** What means cost. */
export const meanPlanning: PlanningPart<"mean"> = {
  settings: ["limit", "sigma"],
  check: ({ limit, goal }) => {
    requireWhole("limit", limit, 1, MOST_TICKS);
    if ("localEpsilon" in goal) requireEpsilon(goal.localEpsilon);
  },
  plan: planMean,
  // With the clamp, which theory does not have.
  asItRuns: (plan) => {
    const charge = meanCharge(plan.spec as MeanSpec, plan.reporting, 1);
    return { ...plan, epsilon: composedEpsilon([charge], plan.delta), bound: "upper" };
  },
  charges: (spec, { reporting }) => ({
    local: (times) => meanCharge(spec, 1, times),
    release: (times) => meanCharge(spec, reporting, times),
    hijacked: (times) => hijackedMeanCharge(hijackedSum(spec, reporting), times),
  }),
  rangeOf: ({ limit }) => limit,
};
