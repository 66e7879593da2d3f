import { bucketErrors, informationTheoreticError, responseError, Z95 } from "../estimate/standard-error.ts";
import {
  type AggregateGuarantee,
  type Answers,
  aggregateEpsilon,
  boundedEpsilon,
  type ClampedSum,
  clampOf,
  createDiscreteGaussian,
  type DiscreteGaussian,
  discreteGaussianVariance,
  gaussianEpsilon,
  hijackedCharge,
  hijackedMeanCharge,
  isSummedExactly,
  localGuaranteeFor,
  sigmaFor,
  THOROUGH,
} from "../privacy/index.ts";
import { requireEpsilon } from "../privacy/probability.ts";
import {
  bestMechanism,
  checkHistogram,
  type HistogramMechanismName,
  requireHistogramEpsilon,
} from "../statistic/histogram/histogram.ts";
import type { StatisticSpec } from "../statistic/index.ts";
import { requireWhole } from "../statistic/statistic.ts";
import { MOST_TICKS } from "../statistic/writes.ts";

/** What is given: a guarantee of the release, or of each device's answer, or a mean's noise; the others are computed at this δ. */
export type Goal = { readonly delta: number } & (
  | { readonly epsilon: number }
  | { readonly localEpsilon: number }
  | { readonly sigma: number }
);

export interface Question {
  readonly statistic: StatisticSpec["statistic"];
  readonly devices: number;
  /** How many honest reports there are at least: the release must be private with these alone. */
  readonly reporting: number;
  readonly ticks: number;
  /** Of the window's writes; 1,000 if absent. */
  readonly hides?: number | undefined;
  /** Of lattice histograms and means: how many events between two writes are counted; 1 if absent. */
  readonly eventsPerTick?: number | undefined;
  readonly goal: Goal;
  /** Of a histogram. */
  readonly edges: readonly number[];
  /** The one with the least error if absent. */
  readonly mechanism?: HistogramMechanismName;
  /** Of a mean. */
  readonly limit: number;
  /** How much work may go into exact figures: 1 is quick. */
  readonly patience?: number;
}

/** What the answer is and costs, for the mechanism as theory has it: a mean's clamp, which costs 0.2%, or 8% if the noise is wide, is in the price of a task. */
export interface MetricPlan {
  readonly mechanism: "randomized-response" | HistogramMechanismName | "discrete-gaussian";
  /** What the server learns of one device, at most; for a mean beside `delta`. */
  readonly localEpsilon: number;
  /** What a release reveals of one device, at most, if `reporting` honest devices are in it. */
  readonly epsilon: number;
  readonly delta: number;
  readonly bound: AggregateGuarantee["bound"];
  readonly reporting: number;
  /**
   * What a release reveals of one device at δ if an intruder captured its state and sent it as a report, shaped at will; infinite if too few devices hide
   * it. Of the figures of this metric alone: a task's, which every release states, is that of all its metrics together.
   */
  readonly hijackedEpsilon: number;
  /** Of a count if nothing happened, of an empty bucket, of a mean; if all devices report. */
  readonly standardError: number;
  /** The same for a bucket in which all devices are. */
  readonly largestStandardError: number;
  /** The smallest true count, or mean, whose 95% interval is expected to leave out zero. */
  readonly detectable: number;
  /** Of a mean: the noise of one device in units of the limit. */
  readonly sigma?: number;
  readonly informationTheoreticStandardError: number;
  /** What a device runs. */
  readonly spec: StatisticSpec;
}

/** Answers before anyone deploys: the noise for a guarantee or the guarantee for a noise, and how wrong results will be. */
export function planMetric(question: Question): MetricPlan {
  checkQuestion(question);
  if (question.statistic === "occurrence") return planOccurrence(question);
  if (question.statistic === "histogram") return planHistogram(question);
  return planMean(question);
}

/** Before anything takes long. */
export function checkQuestion({ statistic, ticks, edges, limit, goal, devices, mechanism }: Question): void {
  requireWhole("devices", devices, 1, 1e9);
  requireWhole("ticks", ticks, 1, MOST_TICKS);
  if (statistic === "histogram") checkHistogram({ ticks, edges, localEpsilon: 1 });
  if (statistic === "mean") requireWhole("limit", limit, 1, MOST_TICKS);
  if ("localEpsilon" in goal && statistic === "histogram") requireHistogramEpsilon(goal.localEpsilon, mechanism);
  else if ("localEpsilon" in goal) requireEpsilon(goal.localEpsilon);
}

/** How many honest reports there are at least, if this share is missing. */
export function reportingDevices(devices: number, missing: number): number {
  if (!(missing >= 0 && missing < 1)) throw new RangeError(`missing is a share from 0 to below 1, not ${missing}`);
  // A hair more than the product, so that 10 − 10·0.1 is 9; never more than there are.
  return Math.max(1, Math.floor(devices * (1 - missing) * (1 + 1e-12)));
}

interface Guarantees extends AggregateGuarantee {
  readonly localEpsilon: number;
}

/** Both guarantees from the one that is asked for. */
function guaranteesOf({ reporting, goal, patience = THOROUGH }: Question, answers: Answers): Guarantees {
  if ("sigma" in goal) throw new TypeError("sigma is for a mean");
  if ("localEpsilon" in goal) {
    const { localEpsilon } = goal;
    return { localEpsilon, ...aggregateEpsilon(reporting, localEpsilon, goal.delta, answers, patience) };
  }
  const local = localGuaranteeFor(reporting, goal.epsilon, goal.delta, answers, patience);
  // A release is never worse than its answers.
  return { ...goal, ...local, epsilon: Math.min(goal.epsilon, local.localEpsilon) };
}

/** For one metric there is time. */
const SHARP = 0.2;

function hijackedEpsilonOf({ reporting, goal }: Question, localEpsilon: number, answers: Answers): number {
  return boundedEpsilon([hijackedCharge(reporting - 1, localEpsilon, answers, 1, SHARP)], goal.delta);
}

/** The noise that hides a captured state: that of all honest devices but the one it was captured from. */
export function hijackedSum(
  { sigma2 }: Pick<DiscreteGaussian, "sigma2">,
  limit: number,
  reporting: number,
): ClampedSum {
  return { sigma2, sensitivity: limit, clamp: clampOf({ sigma2 }), devices: reporting - 1 };
}

function planOccurrence(question: Question): MetricPlan {
  const { devices, reporting, ticks } = question;
  const guarantees = guaranteesOf(question, { mechanism: "randomized-response" });
  const standardError = responseError(devices, guarantees.localEpsilon);
  return {
    mechanism: "randomized-response",
    ...guarantees,
    reporting,
    hijackedEpsilon: hijackedEpsilonOf(question, guarantees.localEpsilon, { mechanism: "randomized-response" }),
    standardError,
    largestStandardError: standardError,
    detectable: Math.ceil(Z95 * standardError),
    informationTheoreticStandardError: informationTheoreticError(standardError, ticks, devices),
    spec: { statistic: "occurrence", ticks, ...hidesOf(question), localEpsilons: [guarantees.localEpsilon] },
  };
}

function planHistogram(question: Question): MetricPlan {
  const { devices, reporting, ticks, edges } = question;
  const { mechanism, guarantees } = chooseMechanism(question);
  const { localEpsilon } = guarantees;
  const { empty, full, detectable } = bucketErrors(mechanism, devices, edges.length, localEpsilon);
  return {
    mechanism,
    ...guarantees,
    reporting,
    hijackedEpsilon: hijackedEpsilonOf(question, localEpsilon, { mechanism, buckets: edges.length }),
    standardError: empty,
    largestStandardError: Math.max(empty, full),
    detectable: Math.ceil(detectable),
    informationTheoreticStandardError: informationTheoreticError(empty, ticks, devices),
    spec: { statistic: "histogram", ticks, ...roomIn(question), edges, localEpsilon, mechanism },
  };
}

function hidesOf({ hides }: Question): { readonly hides?: number } {
  return hides === undefined ? {} : { hides };
}

function roomIn(question: Question): { readonly hides?: number; readonly eventsPerTick: number } {
  return { ...hidesOf(question), eventsPerTick: question.eventsPerTick ?? 1 };
}

const MECHANISMS = ["kary", "unary", "per-bucket"] as const;

/** The one named, or the device's choice at ε₀, or, for a release, that with the least error on average over the buckets. */
function chooseMechanism(question: Question): { mechanism: HistogramMechanismName; guarantees: Guarantees } {
  const { devices, edges, goal } = question;
  const known = question.mechanism ?? ("localEpsilon" in goal && bestMechanism(edges.length, goal.localEpsilon));
  const names = known ? [known] : MECHANISMS;
  const candidates = names.map((mechanism) => {
    const guarantees = guaranteesOf(question, { mechanism, buckets: edges.length });
    const { average } = bucketErrors(mechanism, devices, edges.length, guarantees.localEpsilon);
    return { mechanism, guarantees, average };
  });
  return candidates.reduce((best, candidate) => (candidate.average < best.average ? candidate : best));
}

function planMean(question: Question): MetricPlan {
  const { devices, reporting, ticks, goal, limit } = question;
  const { delta } = goal;
  const sigma = sigmaOf(question);
  const noise = createDiscreteGaussian(sigma * limit);
  const { sigma2 } = noise;
  const variance = discreteGaussianVariance(noise);
  const sum = { sigma2, sensitivity: limit };
  const standardError = Math.sqrt(variance / devices);
  return {
    mechanism: "discrete-gaussian",
    localEpsilon: "localEpsilon" in goal ? goal.localEpsilon : gaussianEpsilon({ ...sum, devices: 1 }, delta),
    epsilon: "epsilon" in goal ? goal.epsilon : gaussianEpsilon({ ...sum, devices: reporting }, delta),
    delta,
    bound: isSummedExactly({ ...sum, devices: reporting }) ? "exact" : "upper",
    reporting,
    hijackedEpsilon: boundedEpsilon([hijackedMeanCharge(hijackedSum(noise, limit, reporting))], delta),
    standardError,
    largestStandardError: standardError,
    detectable: Z95 * standardError,
    sigma,
    informationTheoreticStandardError: informationTheoreticError(standardError, ticks, limit),
    spec: { statistic: "mean", ticks, ...roomIn(question), limit, sigma },
  };
}

function sigmaOf({ goal, limit, reporting }: Question): number {
  if ("sigma" in goal) return goal.sigma;
  if ("localEpsilon" in goal) return sigmaFor(goal.localEpsilon, goal.delta, limit);
  return sigmaFor(goal.epsilon, goal.delta, limit, reporting);
}
