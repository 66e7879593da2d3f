import {
  type AggregateGuarantee,
  type Answers,
  aggregateEpsilon,
  boundedEpsilon,
  type Charge,
  hijackedCharge,
  localGuaranteeFor,
  THOROUGH,
} from "../privacy/index.ts";
import type { HistogramMechanismName } from "./histogram/histogram.ts";
import type { AnyShape, StatisticName, StatisticSpec } from "./spec.ts";

/**
 * The given: a guarantee of the release, or of each device's answer, or the noise; the others are computed at this
 * δ.
 */
export type Goal = { readonly delta: number } & (
  | { readonly epsilon: number }
  | { readonly localEpsilon: number }
  | { readonly sigma: number }
);

/** Everything but the noise that a statistic can be set up with; each statistic reads what is its own. */
export interface Settings extends AnyShape {
  readonly ticks: number;
  /** Of the window's writes; 1,000 if absent. */
  readonly hides?: number | undefined;
  /** Of lattice histograms and means: how many events between two writes are counted; 1 if absent. */
  readonly eventsPerTick?: number | undefined;
  /** Of an occurrence: how many metrics run together; 1 if absent. */
  readonly metrics?: number | undefined;
  /** Of a histogram. */
  readonly edges: readonly number[];
  /** The one with the least error if absent. */
  readonly mechanism?: HistogramMechanismName;
  /** Of a mean. */
  readonly limit: number;
}

/** What somebody who plans a metric asks. */
export interface Question extends Settings {
  readonly statistic: StatisticName;
  readonly devices: number;
  /** How many honest reports there are at least: the release must be private with these alone. */
  readonly reporting: number;
  readonly goal: Goal;
  /** How much work may go into exact figures: 1 is quick. */
  readonly patience?: number;
}

/**
 * What the answer is and costs, for the mechanism as theory has it. A mean's clamp, which costs 0.2%, or 8% if the
 * noise is wide, is in the price of a task.
 */
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
   * The ε at δ of a release for one device whose state an intruder captured and sent as a report, shaped at will;
   * infinite if too few devices hide it. It covers the figures of this metric alone. The figure that every release
   * states is that of all metrics of the task together.
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

/** What one device pays for a metric with this plan: privacy losses that are added up over metrics and windows. */
export interface Charges {
  /** To the server that opens its answer. */
  local(times: number): Charge;
  /** To everybody who reads the release. */
  release(times: number): Charge;
  /** To everybody, if an intruder captured its state and sent it as a report. */
  hijacked(times: number, patience: number): Charge;
}

/** The guarantee of an answer and that of the release. */
export interface Guarantees extends AggregateGuarantee {
  readonly localEpsilon: number;
}

/** Both guarantees from the one that is asked for. */
export function guaranteesOf({ reporting, goal, patience = THOROUGH }: Question, answers: Answers): Guarantees {
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

/** The `hijackedEpsilon` of a metric whose devices tell bits. */
export function hijackedEpsilonOf({ reporting, goal }: Question, localEpsilon: number, answers: Answers): number {
  return boundedEpsilon([hijackedCharge(reporting - 1, localEpsilon, answers, 1, SHARP)], goal.delta);
}
