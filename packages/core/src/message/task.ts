import { LetheError } from "../error.ts";
import { requireEpsilon } from "../privacy/probability.ts";
import { type SchemeName, type StatisticSpec, statisticFor } from "../statistic/create.ts";
import { checkHistogram, type HistogramMechanismName, requireHistogramEpsilon } from "../statistic/histogram.ts";
import { checkMean } from "../statistic/mean.ts";
import { MOST_TICKS } from "../statistic/statistic.ts";
import {
  type Fields,
  list,
  name,
  number,
  oneOf,
  optional,
  type Read,
  readFields,
  refuseUnknown,
  requireObject,
  whole,
} from "./fields.ts";
import { parseJson, quote, shorten } from "./json.ts";

/** What an operator asks a fleet of devices, as written in a task file. */
export interface Task {
  readonly version: number;
  /** Its name. */
  readonly task: string;
  readonly tickSeconds: number;
  /** Ticks of a window. */
  readonly ticks: number;
  /** For how long after a window its reports are accepted. */
  readonly graceSeconds: number;
  readonly mode: "one-server";
  readonly scheme: SchemeName;
  /** A window with fewer reports is not released. */
  readonly minimumDevices: number;
  readonly metrics: readonly Metric[];
}

export type Metric = OccurrenceMetric | HistogramMetric | MeanMetric;

export interface OccurrenceMetric {
  readonly name: string;
  readonly statistic: "occurrence";
  readonly localEpsilon: number;
}

export interface HistogramMetric {
  readonly name: string;
  readonly statistic: "histogram";
  readonly edges: readonly number[];
  readonly localEpsilon: number;
  readonly eventsPerTick: number;
  readonly mechanism?: HistogramMechanismName;
}

export interface MeanMetric {
  readonly name: string;
  readonly statistic: "mean";
  readonly limit: number;
  readonly sigma: number;
  readonly eventsPerTick: number;
}

/** A statistic of a task, and the names of its metrics in the order of its answers. */
export interface TaskStatistic {
  readonly spec: StatisticSpec;
  readonly metrics: readonly string[];
}

/**
 * The task in a text, with defaults filled in; it can run. Any other text is refused with a `bad-task` error of one
 * line that begins with the path of the field to blame, or with `task`.
 */
export function parseTask(text: string): Task {
  try {
    return requireRunnable(readFields("", requireObject("task", parseJson("task", text)), "a task", TASK_FIELDS));
  } catch (error) {
    if (error instanceof RangeError) throw new LetheError("bad-task", error.message);
    throw error;
  }
}

/**
 * The statistics that a device runs for a task: all occurrence metrics share one, and with it a ciphertext; then each
 * other metric has its own, in the task's order.
 */
export function statisticsOf({ ticks, metrics }: Task): readonly TaskStatistic[] {
  const occurrences = metrics.filter((metric) => metric.statistic === "occurrence");
  const ledger: TaskStatistic = {
    spec: { statistic: "occurrence", ticks, localEpsilons: occurrences.map(({ localEpsilon }) => localEpsilon) },
    metrics: occurrences.map(({ name }) => name),
  };
  const others = metrics
    .filter((metric) => metric.statistic !== "occurrence")
    .map(({ name, ...spec }) => ({ spec: { ...spec, ticks }, metrics: [name] }));
  return occurrences.length > 0 ? [ledger, ...others] : others;
}

/** The same task, if its fields, each of which is fine, go together; else a `RangeError` as for a single field. */
export function requireRunnable<T extends Task>(task: T): T {
  requireUniqueNames(task.metrics);
  for (const [i, metric] of task.metrics.entries()) {
    prefixed(`metrics[${i}].`, () => checkMetric(metric, task.ticks));
  }
  requireRoom(task);
  return task;
}

/** The rules that the statistics have for their own fields. */
function checkMetric(metric: Metric, ticks: number): void {
  if (metric.statistic === "histogram") checkHistogram({ ...metric, ticks });
  if (metric.statistic === "mean") checkMean({ ...metric, ticks });
  if (metric.statistic === "occurrence") requireEpsilon(metric.localEpsilon);
  if (metric.statistic === "histogram") requireHistogramEpsilon(metric.localEpsilon, metric.mechanism);
}

function requireUniqueNames(metrics: readonly Metric[]): void {
  const places = new Map<string, number>();
  for (const [i, { name }] of metrics.entries()) {
    const first = places.get(name);
    if (first !== undefined) {
      throw new RangeError(`metrics[${i}].name is unique, but metrics[${first}] is named ${quote(name)} too`);
    }
    places.set(name, i);
  }
}

/** Metrics that are fine by themselves can still ask for more than a ciphertext holds. */
function requireRoom(task: Task): void {
  const places = new Map(task.metrics.map(({ name }, i) => [name, i]));
  for (const { spec, metrics } of statisticsOf(task)) {
    const [first = "", ...others] = metrics;
    const more = others.length > 0 ? ` and ${others.length} more` : "";
    prefixed(`metrics[${places.get(first)}] (${first})${more}: `, () => statisticFor(task.scheme, spec));
  }
}

/** Says where the fault lies that a check of core found; the value that it quotes last may be a long list. */
function prefixed(prefix: string, check: () => void): void {
  try {
    check();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new RangeError(prefix + error.message.replace(/, not (.*)$/s, (_, value) => `, not ${shorten(value)}`));
  }
}

const DAY = 86_400;

const OCCURRENCE: Fields<OccurrenceMetric> = {
  name,
  statistic: oneOf("occurrence"),
  localEpsilon: number,
};

const HISTOGRAM: Fields<HistogramMetric> = {
  name,
  statistic: oneOf("histogram"),
  edges: list("numbers", number, 0, Number.POSITIVE_INFINITY),
  localEpsilon: number,
  eventsPerTick: optional(number, 1),
  mechanism: optional(oneOf("kary", "unary", "per-bucket"), undefined),
};

const MEAN: Fields<MeanMetric> = {
  name,
  statistic: oneOf("mean"),
  limit: number,
  sigma: number,
  eventsPerTick: optional(number, 1),
};

const readMetric: Read<Metric> = (path, value) => {
  const found = requireObject(path, value);
  // Only the statistic tells which fields there are, so its own name is looked at first.
  if (found.statistic === undefined) refuseUnknown(path, found, "a metric", { ...OCCURRENCE, ...HISTOGRAM, ...MEAN });
  const statistic = oneOf("occurrence", "histogram", "mean")(`${path}.statistic`, found.statistic);
  if (statistic === "occurrence") return readFields(path, found, "an occurrence metric", OCCURRENCE);
  if (statistic === "histogram") return readFields(path, found, "a histogram metric", HISTOGRAM);
  return readFields(path, found, "a mean metric", MEAN);
};

const mode: Read<"one-server"> = (path, value) => {
  if (value === "two-server") throw new RangeError(`${path} is one-server; two-server is not supported yet`);
  return oneOf("one-server")(path, value);
};

export const TASK_FIELDS: Fields<Task> = {
  version: whole(1, Number.MAX_SAFE_INTEGER),
  task: name,
  tickSeconds: whole(1, 31 * DAY),
  ticks: whole(1, MOST_TICKS),
  graceSeconds: whole(0, 366 * DAY),
  mode,
  scheme: oneOf("lattice", "elgamal"),
  minimumDevices: whole(1, 1e9),
  metrics: list("metrics", readMetric, 1, 10_000),
};
