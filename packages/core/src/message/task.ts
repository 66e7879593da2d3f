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
  readonly mode: "one-server" | "two-server";
  /** Of two servers `elgamal`. */
  readonly scheme: SchemeName;
  /** A window with fewer reports is not released. */
  readonly minimumDevices: number;
  /** The share of `minimumDevices` that may be dishonest: guarantees are those of the others. 0 if absent. */
  readonly missing?: number;
  readonly metrics: readonly Metric[];
}

export type Metric = OccurrenceMetric | HistogramMetric | MeanMetric | CountedOccurrenceMetric | CountedHistogramMetric;

export interface OccurrenceMetric {
  readonly name: string;
  readonly statistic: "occurrence";
  readonly noise?: never;
  readonly localEpsilon: number;
}

export interface HistogramMetric {
  readonly name: string;
  readonly statistic: "histogram";
  readonly noise?: never;
  readonly edges: readonly number[];
  readonly localEpsilon: number;
  readonly eventsPerTick: number;
  readonly mechanism?: HistogramMechanismName;
}

/** The noise is that of the device, or of each of two servers. */
export interface MeanMetric {
  readonly name: string;
  readonly statistic: "mean";
  readonly noise?: never;
  readonly limit: number;
  /** In units of the limit. */
  readonly sigma: number;
  readonly eventsPerTick: number;
}

/** Told truly to two servers, each of which adds noise to the sum. */
export interface CountedOccurrenceMetric {
  readonly name: string;
  readonly statistic: "occurrence";
  readonly noise: "servers";
  /** Of each server's noise, in devices. */
  readonly sigma: number;
}

export interface CountedHistogramMetric {
  readonly name: string;
  readonly statistic: "histogram";
  readonly noise: "servers";
  readonly edges: readonly number[];
  /** Of each server's noise in each bucket, in devices. */
  readonly sigma: number;
  readonly eventsPerTick: number;
}

/** The task with its defaults written out, as a manifest states it. */
export function resolved({ metrics, missing = 0, ...task }: Task): Task {
  return { ...task, missing, metrics };
}

/** A statistic of a task, and the names of its metrics in the order of its answers. */
export interface TaskStatistic {
  readonly spec: StatisticSpec;
  readonly metrics: readonly string[];
}

/**
 * The statistics that a device runs for a task of one server: all occurrence metrics share one, and with it a ciphertext; then each
 * other metric has its own, in the task's order.
 */
export function statisticsOf({ ticks, metrics }: Task): readonly TaskStatistic[] {
  const noised = metrics.filter((metric) => metric.noise === undefined);
  const occurrences = noised.filter((metric) => metric.statistic === "occurrence");
  const ledger: TaskStatistic = {
    spec: { statistic: "occurrence", ticks, localEpsilons: occurrences.map(({ localEpsilon }) => localEpsilon) },
    metrics: occurrences.map(({ name }) => name),
  };
  const others = noised
    .filter((metric) => metric.statistic !== "occurrence")
    .map(({ name, ...spec }) => ({ spec: { ...spec, ticks }, metrics: [name] }));
  return occurrences.length > 0 ? [ledger, ...others] : others;
}
