import { layoutOf, type Metric, reportBytes, statisticsOf, type Task } from "../message/index.ts";
import {
  type Answers,
  aggregateCharge,
  boundedEpsilon,
  type Charge,
  clampedCharge,
  clampOf,
  composedEpsilon,
  createDiscreteGaussian,
  gaussianCharge,
  hijackedCharge,
  hijackedInvalidCharge,
  hijackedMeanCharge,
  INVALID_COUNT_EPSILON,
  pureCharge,
  serverNoise,
  serverNoiseCharge,
} from "../privacy/index.ts";
import type { MeanSpec } from "../statistic/index.ts";
import { twoServerReportBytes } from "../two-server/messages.ts";
import type { ServerNoiseSpec } from "../two-server/spec.ts";
import { twoServerLayoutOf, twoServerStatisticsOf } from "../two-server/task-layout.ts";
import { hijackedSum, type MetricPlan, planMetric, type Question, reportingDevices } from "./metric.ts";
import { type PlanParameters, parametersFor } from "./parameters.ts";
import { planTwoServerMetric, type TwoServerMetricPlan } from "./two-server.ts";

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
   * What the releases reveal, at the same δ, of a device whose state an intruder captured and sent as its report: the ε between any two reports that the server
   * accepts, over all metrics. Infinite if the honest devices are too few to hide one.
   */
  readonly hijackedEpsilon: number;
}

export interface TaskPlan {
  readonly task: string;
  readonly devices: number;
  readonly reporting: number;
  readonly delta: number;
  /** None has a figure of its own for a hijacked report: a captured state may be put under any of them. */
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
  for (const [i, { name, scheme: _, ...metric }] of task.metrics.entries()) {
    progress(i / task.metrics.length);
    const key = JSON.stringify(metric);
    const known = priced.get(key);
    if (known) known.names.push(name);
    else {
      const question = { ...questionOf(metric, delta), devices, reporting, ticks: task.ticks, patience: 1 };
      const plan =
        task.mode === "two-server"
          ? planTwoServerMetric({ ...question, ...(metric.noise && { noise: metric.noise }) })
          : asItRuns(planMetric(question));
      priced.set(key, { names: [name], plan });
    }
  }
  return [...priced.values()];
}

type Unnamed<M> = M extends Metric ? Omit<M, "name" | "scheme"> : never;

function questionOf(
  metric: Unnamed<Metric>,
  delta: number,
): Pick<Question, "statistic" | "goal" | "edges" | "limit" | "mechanism"> {
  const { statistic } = metric;
  if (metric.statistic === "mean")
    return { statistic, goal: { sigma: metric.sigma, delta }, edges: [], limit: metric.limit };
  if (metric.noise === "servers") {
    const edges = metric.statistic === "histogram" ? metric.edges : [];
    return { statistic, goal: { sigma: metric.sigma, delta }, edges, limit: 1 };
  }
  const goal = { localEpsilon: metric.localEpsilon, delta };
  if (metric.statistic === "occurrence") return { statistic, goal, edges: [], limit: 1 };
  const { edges, mechanism } = metric;
  return { statistic, goal, edges, limit: 1, ...(mechanism && { mechanism }) };
}

/** Metrics and windows compose: one person's answers to all of them are different together. */
function totalCost(priced: readonly Priced[], windows: number, delta: number): TotalCost {
  const local = priced.map((metric) => localCharge(metric, windows));
  const aggregate = priced.map((metric) => releaseCharge(metric, windows));
  const sum = local.reduce((total, { pure = Number.POSITIVE_INFINITY, times }) => total + times * pure, 0);
  return {
    windows,
    local: { ...(Number.isFinite(sum) && { sum }), epsilon: composedEpsilon(local, delta), delta },
    aggregate: {
      epsilon: composedEpsilon([...aggregate, pureCharge(INVALID_COUNT_EPSILON, windows)], delta),
      delta,
      bound: "upper",
    },
    hijackedEpsilon: boundedEpsilon(
      [
        ...priced.map((metric) => hijackedChargeOf(metric, windows, priced.length > MANY ? 0.005 : 0.03)),
        hijackedInvalidCharge(windows),
      ],
      delta,
    ),
  };
}

function localCharge({ names, plan: { localEpsilon, spec } }: Priced, windows: number): Charge {
  const times = names.length * windows;
  if (isCounted(spec)) return countedCharge(spec, times);
  return spec.statistic === "mean" ? meanCharge(spec, 1, times) : pureCharge(localEpsilon, times);
}

function releaseCharge({ names, plan }: Priced, windows: number): Charge {
  const { mechanism, localEpsilon, reporting, spec } = plan;
  const times = names.length * windows;
  if (isCounted(spec)) return countedCharge(spec, times);
  if (spec.statistic === "mean") return meanCharge(spec, reporting, times);
  const buckets = spec.statistic === "histogram" ? spec.edges.length : 2;
  return aggregateCharge(reporting, localEpsilon, { mechanism, buckets } as Answers, times);
}

/** So many different metrics are priced less sharply, by a hundredth or two, and in seconds. */
const MANY = 20;

function hijackedChargeOf({ names, plan }: Priced, windows: number, patience: number): Charge {
  const { mechanism, localEpsilon, reporting, spec } = plan;
  const times = names.length * windows;
  // Whatever the servers accept an honest device may have sent.
  if (isCounted(spec)) return countedCharge(spec, times);
  if (spec.statistic === "mean") return hijackedMeanCharge(hijackedSum(noiseOf(spec), spec.limit, reporting), times);
  const buckets = spec.statistic === "histogram" ? spec.edges.length : 2;
  return hijackedCharge(reporting - 1, localEpsilon, { mechanism, buckets } as Answers, times, patience);
}

/** A device's answer is clamped after its noise, so its own δ holds; and that of the sum of many clamped ones. */
function meanCharge(spec: MeanSpec, devices: number, times: number): Charge {
  const alone = gaussianCharge({ ...noiseOf(spec), devices: 1 }, times);
  if (devices === 1) return alone;
  const sum = { ...noiseOf(spec), devices };
  const together = clampedCharge({ ...sum, clamp: clampOf(sum) });
  return { times, delta: (epsilon) => Math.min(alone.delta(epsilon), together.delta(epsilon)) };
}

/** With the clamp, which theory does not have. */
function asItRuns(plan: MetricPlan): MetricPlan {
  const { spec, reporting, delta } = plan;
  if (spec.statistic !== "mean") return plan;
  return { ...plan, epsilon: composedEpsilon([meanCharge(spec, reporting, 1)], delta), bound: "upper" };
}

function noiseOf({ sigma, limit }: MeanSpec): { sigma2: number; sensitivity: number } {
  return { sigma2: createDiscreteGaussian(sigma * limit).sigma2, sensitivity: limit };
}

function isCounted(spec: Priced["plan"]["spec"]): spec is ServerNoiseSpec {
  return "noise" in spec && spec.noise === "servers";
}

/** A server that subtracts its own noise from the release learns as much as anybody does. */
function countedCharge(spec: ServerNoiseSpec, times: number): Charge {
  const sigma = spec.statistic === "occurrence" ? (spec.sigmas[0] as number) : spec.sigma;
  return serverNoiseCharge(spec, serverNoise(spec, sigma), times);
}
