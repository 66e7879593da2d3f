import { layoutOf, reportBytes, statisticsOf, type Task } from "../message/index.ts";
import { twoServerStatisticsOf } from "../message/two-server-statistics.ts";
import {
  boundedEpsilon,
  composedEpsilon,
  hijackedInvalidCharge,
  INVALID_COUNT_EPSILON,
  pureCharge,
  serverNoise,
  serverNoiseCharge,
} from "../privacy/index.ts";
import type { Charges, MetricPlan } from "../statistic/question.ts";
import type { Metric, ServerNoiseSpec } from "../statistic/spec.ts";
import { entryOf, twoServerRunOf } from "../statistic/table.ts";
import { twoServerReportBytes } from "../two-server/messages.ts";
import { twoServerLayoutOf } from "../two-server/task-layout.ts";
import { planMetric, reportingDevices } from "./metric.ts";
import { type PlanParameters, parametersFor } from "./parameters.ts";
import { planTwoServerMetric, type TwoServerMetricPlan, type TwoServerQuestion } from "./two-server.ts";

/** The δ at which guarantees are stated if nobody asks for another: that of every release. */
export const DEFAULT_DELTA = 1e-6;

/** What the price of a task depends on. */
export interface TaskQuestion {
  readonly task: Task;
  /** How many devices report, for the errors; the guarantees stand on `minimumDevices`. */
  readonly devices: number;
  /** The share of `minimumDevices` that may be dishonest; the task's own if absent. */
  readonly missing?: number;
  readonly delta: number;
  /** How many windows the same person is in. */
  readonly windows: number;
}

/** What a whole task costs a device. */
export interface TotalCost {
  readonly windows: number;
  /** What the server learns of one device: the plain sum of ε, if every metric has one without δ; and at δ. */
  readonly local: { readonly sum?: number; readonly epsilon: number; readonly delta: number };
  /** What the releases reveal of one device, the noised number of invalid reports included. */
  readonly aggregate: { readonly epsilon: number; readonly delta: number; readonly bound: "upper" };
  /**
   * The ε, at the same δ, of a device whose state an intruder captured and sent as its report: between any two reports
   * that the server accepts, over all metrics. Infinite if the honest devices are too few to hide one.
   */
  readonly hijackedEpsilon: number;
}

/** What a task costs, in privacy, in error and in bytes. */
export interface TaskPlan {
  readonly task: string;
  readonly devices: number;
  readonly reporting: number;
  readonly delta: number;
  /** None has a separate figure for a hijacked report: a captured state may be put under any of them. */
  readonly metrics: readonly (Omit<MetricPlan, "spec" | "hijackedEpsilon"> & { readonly name: string })[];
  readonly perWindow: TotalCost;
  readonly total: TotalCost;
  readonly parameters: readonly (PlanParameters & { readonly metrics: readonly string[] })[];
  readonly stateBytes: number;
  /** What a device uploads, header included: the service takes no other length. */
  readonly reportBytes: number;
}

/** Prices a task as it stands. Many different metrics take seconds. */
export function planTask(
  { task, devices, missing = task.missing ?? 0, delta, windows }: TaskQuestion,
  progress: (share: number) => void = () => {},
): TaskPlan {
  const reporting = reportingDevices(task.minimumDevices, missing);
  const priced = priceMetrics(task, devices, reporting, delta, (share) => progress(0.2 * share));
  const parameters =
    task.mode === "two-server"
      ? twoServerStatisticsOf(task).map(({ spec, metrics }) => ({ metrics, ...parametersFor(spec, devices, delta) }))
      : statisticsOf(task).map(({ scheme, spec, metrics }) => {
          return { metrics, ...parametersFor(spec, devices, delta, scheme) };
        });
  const perWindow = totalCost(priced, 1, delta);
  progress(windows === 1 ? 1 : 0.6);
  const total = windows === 1 ? perWindow : totalCost(priced, windows, delta);
  progress(1);
  return {
    task: task.task,
    devices,
    reporting,
    delta,
    metrics: priced.flatMap(({ names, plan: { spec, hijackedEpsilon, ...plan } }) =>
      names.map((name) => ({ name, ...plan })),
    ),
    perWindow,
    total,
    parameters,
    stateBytes: parameters.reduce((sum, { stateBytes }) => sum + stateBytes, 0),
    reportBytes:
      task.mode === "two-server" ? twoServerReportBytes(twoServerLayoutOf(task)) : reportBytes(layoutOf(task)),
  };
}

/** What a device pays for a task if it answers in each of these numbers of windows, as `planTask` adds it up. */
export function planTotals(
  { task, missing = task.missing ?? 0, delta }: Pick<TaskQuestion, "task" | "missing" | "delta">,
  windows: readonly number[],
): TotalCost[] {
  const { minimumDevices } = task;
  const priced = priceMetrics(task, minimumDevices, reportingDevices(minimumDevices, missing), delta, () => {});
  return windows.map((number) => totalCost(priced, number, delta));
}

/** Metrics that ask the same have the same price. */
interface Priced {
  readonly names: string[];
  readonly plan: MetricPlan | TwoServerMetricPlan;
}

function priceMetrics(
  task: Task,
  devices: number,
  reporting: number,
  delta: number,
  progress: (share: number) => void,
): Priced[] {
  const priced = new Map<string, Priced>();
  for (const [i, asWritten] of task.metrics.entries()) {
    const { name, scheme: _, ...metric } = asWritten;
    progress(i / task.metrics.length);
    const key = JSON.stringify(metric);
    const known = priced.get(key);
    if (known) known.names.push(name);
    else {
      priced.set(key, { names: [name], plan: planOf(task, asWritten, devices, reporting, delta) });
    }
  }
  return [...priced.values()];
}

/** Of a statistic that has neither. */
export const NO_SHAPE: { readonly edges: readonly number[]; readonly limit: number } = { edges: [], limit: 1 };

/** What planning a metric of a task asks. */
export function metricQuestion(
  { ticks, collusion }: Pick<Task, "ticks" | "collusion">,
  metric: Metric,
  devices: number,
  reporting: number,
  delta: number,
): TwoServerQuestion {
  const { statistic, noise } = metric;
  const asked = { ...NO_SHAPE, ...entryOf(statistic).task.questionOf(metric, delta) };
  return {
    statistic,
    ...asked,
    devices,
    reporting,
    ticks,
    patience: 1,
    ...(noise && { noise }),
    ...(collusion && { collusion }),
  };
}

function planOf(task: Task, metric: Metric, devices: number, reporting: number, delta: number): Priced["plan"] {
  const question = metricQuestion(task, metric, devices, reporting, delta);
  if (task.mode === "two-server") return planTwoServerMetric(question);
  const planned = planMetric(question);
  return entryOf(metric.statistic).plan.asItRuns?.(planned) ?? planned;
}

/** More different metrics than this are priced less sharply, by a hundredth or two, and in seconds. */
const MANY = 20;

/** Metrics and windows compose: one person's answers to all of them are different together. */
function totalCost(priced: readonly Priced[], windows: number, delta: number): TotalCost {
  const charged = priced.map(({ names, plan }) => ({ charges: chargesOf(plan), times: names.length * windows }));
  const local = charged.map(({ charges, times }) => charges.local(times));
  const aggregate = charged.map(({ charges, times }) => charges.release(times));
  const patience = priced.length > MANY ? 0.005 : 0.03;
  const hijacked = charged.map(({ charges, times }) => charges.hijacked(times, patience));
  const sum = local.reduce((total, { pure = Number.POSITIVE_INFINITY, times }) => total + times * pure, 0);
  return {
    windows,
    local: { ...(Number.isFinite(sum) && { sum }), epsilon: composedEpsilon(local, delta), delta },
    aggregate: {
      epsilon: composedEpsilon([...aggregate, pureCharge(INVALID_COUNT_EPSILON, windows)], delta),
      delta,
      bound: "upper",
    },
    hijackedEpsilon: boundedEpsilon([...hijacked, hijackedInvalidCharge(windows)], delta),
  };
}

function chargesOf({ spec, ...plan }: Priced["plan"]): Charges {
  return isCounted(spec) ? countedCharges(spec) : entryOf(spec.statistic).plan.charges(spec, plan);
}

function isCounted(spec: Priced["plan"]["spec"]): spec is ServerNoiseSpec {
  return "noise" in spec && spec.noise === "servers";
}

/**
 * A server that subtracts its own noise from the release learns as much as anybody does. Whatever the servers accept an
 * honest device may have sent.
 */
function countedCharges(spec: ServerNoiseSpec): Charges {
  const run = twoServerRunOf(spec.statistic);
  const exposure = run.exposure(spec);
  const noise = serverNoise(exposure, run.sigmasOf(spec)[0] as number);
  const charge = (times: number) => serverNoiseCharge(exposure, noise, times);
  return { local: charge, release: charge, hijacked: charge };
}
