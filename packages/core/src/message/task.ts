import type { HistogramMechanismName } from "../statistic/histogram/histogram.ts";
import type { SchemeName, StatisticSpec } from "../statistic/spec.ts";
import { DEFAULT_HIDES } from "../statistic/writes.ts";

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
  /** Of all metrics; if absent, each has its own. Of two servers `elgamal`. */
  readonly scheme?: SchemeName | undefined;
  /**
   * How many writes a window allows that end no tick. Tasks that say nothing of it get 1,000 when they are created. A manifest that
   * says nothing of it is older than the field: its devices write as often as there are ticks, and count in each tick until the first such write.
   */
  readonly hides?: number;
  /** A window with fewer reports is not released. */
  readonly minimumDevices: number;
  /** The share of `minimumDevices` that may be dishonest: guarantees are those of the others. 0 if absent. */
  readonly missing?: number;
  readonly metrics: readonly Metric[];
}

export type Metric = OccurrenceMetric | HistogramMetric | MeanMetric | CountedOccurrenceMetric | CountedHistogramMetric;

/** What all metrics have. */
interface NamedMetric {
  readonly name: string;
  /** If absent the task's, else that of the statistic. */
  readonly scheme?: SchemeName | undefined;
}

export interface OccurrenceMetric extends NamedMetric {
  readonly statistic: "occurrence";
  readonly noise?: never;
  readonly localEpsilon: number;
}

export interface HistogramMetric extends NamedMetric {
  readonly statistic: "histogram";
  readonly noise?: never;
  readonly edges: readonly number[];
  readonly localEpsilon: number;
  /** How many events between two writes are counted: on lattices, which have no room for more; elsewhere there is no limit. */
  readonly eventsPerTick?: number | undefined;
  readonly mechanism?: HistogramMechanismName;
}

/** The noise is that of the device, or of each of two servers. */
export interface MeanMetric extends NamedMetric {
  readonly statistic: "mean";
  readonly noise?: never;
  readonly limit: number;
  /** In units of the limit. */
  readonly sigma: number;
  /** How many events between two writes are counted: on lattices, which have no room for more; elsewhere there is no limit. */
  readonly eventsPerTick?: number | undefined;
}

/** Told truly to two servers, each of which adds noise to the sum. */
export interface CountedOccurrenceMetric extends NamedMetric {
  readonly statistic: "occurrence";
  readonly noise: "servers";
  /** Of each server's noise, in devices. */
  readonly sigma: number;
}

export interface CountedHistogramMetric extends NamedMetric {
  readonly statistic: "histogram";
  readonly noise: "servers";
  readonly edges: readonly number[];
  /** Of each server's noise in each bucket, in devices. */
  readonly sigma: number;
  /** How many events between two writes are counted: on lattices, which have no room for more; elsewhere there is no limit. */
  readonly eventsPerTick?: number | undefined;
}

/** The task with its defaults written out and without what changes nothing, as a manifest states it. */
export function resolved({ metrics, missing = 0, hides = DEFAULT_HIDES, ...task }: Task): Task {
  const { scheme: named, ...others } = task;
  const scheme = named ?? (task.mode === "two-server" ? "elgamal" : undefined);
  // Always in this order: tasks are compared as texts.
  const rest = { hides, missing, metrics: metrics.map((metric) => resolvedMetric(scheme, metric)) };
  return { ...others, ...(scheme && { scheme }), ...rest };
}

/** With its scheme, unless the task has one for all; counts have a limit on lattices only. */
function resolvedMetric(common: SchemeName | undefined, metric: Metric): Metric {
  const { name, scheme = common ?? defaultScheme(metric.statistic), ...rest } = metric;
  const { eventsPerTick: _, ...unlimited } = rest as typeof rest & { eventsPerTick?: number };
  return { name, ...(!common && { scheme }), ...(scheme === "lattice" ? rest : unlimited) } as Metric;
}

/** One ciphertext holds thousands of occurrences on lattices, whatever their number; counts of events have no limit with ElGamal. */
export function schemeOf(
  task: Pick<Task, "scheme">,
  { scheme, statistic }: Pick<Metric, "scheme" | "statistic">,
): SchemeName {
  return scheme ?? task.scheme ?? defaultScheme(statistic);
}

export function defaultScheme(statistic: Metric["statistic"]): SchemeName {
  return statistic === "occurrence" ? "lattice" : "elgamal";
}

/** A statistic of a task, the scheme it runs on, and the names of its metrics in the order of its answers. */
export interface TaskStatistic {
  readonly scheme: SchemeName;
  readonly spec: StatisticSpec;
  readonly metrics: readonly string[];
}

/** How often a device writes. */
export function writesOf({ ticks, hides = ticks }: Pick<Task, "ticks" | "hides">): {
  readonly ticks: number;
  readonly hides: number;
} {
  return { ticks, hides };
}

/**
 * The statistics that a device runs for a task of one server: all occurrence metrics of a scheme share one, and on lattices with it a ciphertext; then
 * each other metric has its own, in the task's order.
 */
export function statisticsOf(task: Pick<Task, "ticks" | "hides" | "scheme" | "metrics">): readonly TaskStatistic[] {
  const writes = writesOf(task);
  const noised = task.metrics.filter((metric) => metric.noise === undefined);
  const occurrences = (["lattice", "elgamal"] as const).flatMap((scheme): TaskStatistic[] => {
    const own = noised
      .filter((metric) => metric.statistic === "occurrence")
      .filter((metric) => schemeOf(task, metric) === scheme);
    const localEpsilons = own.map(({ localEpsilon }) => localEpsilon);
    const spec: StatisticSpec = { statistic: "occurrence", ...writes, localEpsilons };
    return own.length > 0 ? [{ scheme, spec, metrics: own.map(({ name }) => name) }] : [];
  });
  const others = noised
    .filter((metric) => metric.statistic !== "occurrence")
    .map(({ name, scheme, ...spec }) => ({
      scheme: schemeOf(task, { scheme, ...spec }),
      spec: { ...spec, ...writes, ...(task.hides === undefined && { roomPerTick: true }) },
      metrics: [name],
    }));
  return [...occurrences, ...others];
}
