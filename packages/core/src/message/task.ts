import type { HistogramMechanismName } from "../statistic/histogram.ts";
import type { SchemeName, StatisticSpec } from "../statistic/spec.ts";

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
