import type { Budget } from "../privacy/accounting/budget.ts";
import { defaultScheme, isJoint, JOINT, type MODES, SCHEMES } from "../statistic/names.ts";
import { limitsEvents } from "../statistic/schemes.ts";
import type { Collusion, Metric, SchemeName, StatisticSpec } from "../statistic/spec.ts";
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
  /** How many servers count. */
  readonly mode: (typeof MODES)[number];
  /**
   * Of two servers: whether what devices store is safe from an intruder who has the keys of one of them. A task of two
   * servers gets "none" when it is created; a manifest that says nothing of it means that.
   */
  readonly collusion?: Collusion | undefined;
  /** Of all metrics; if absent, each has its own. Of two servers `elgamal`. */
  readonly scheme?: SchemeName | undefined;
  /**
   * How many writes a window allows that end no tick. Tasks that say nothing of it get 1,000 when they are created. A
   * manifest that says nothing of it is older than the field: its devices write as often as there are ticks, and count
   * in each tick until the first such write.
   */
  readonly hides?: number;
  /** A window with fewer reports is not released. */
  readonly minimumDevices: number;
  /** The share of `minimumDevices` that may be dishonest: guarantees are those of the others. 0 if absent. */
  readonly missing?: number;
  /** What a device may spend at most, on all tasks that keep their budgets in one place; none if absent. */
  readonly budget?: Budget | undefined;
  /**
   * Names of groups of devices, of which each device is in one. If there are any, there are figures for each of them,
   * and `minimumDevices` and `missing` hold for each.
   */
  readonly groups?: readonly string[] | undefined;
  readonly metrics: readonly Metric[];
}

/** The task with its defaults written out and without what changes nothing, as a manifest states it. */
export function resolved({ metrics, missing = 0, hides = DEFAULT_HIDES, ...task }: Task): Task {
  const { scheme: named, collusion = "none", ...others } = task;
  const scheme = named ?? (task.mode === "two-server" ? "elgamal" : undefined);
  // Always in this order: tasks are compared as texts.
  const rest = {
    ...((task.mode === "two-server" || collusion !== "none") && { collusion }),
    hides,
    missing,
    metrics: metrics.map((metric) => resolvedMetric(scheme, metric)),
  };
  return { ...others, ...(scheme && { scheme }), ...rest };
}

/** With its scheme, unless the task has one for all; without a limit of events where there is none. */
function resolvedMetric(common: SchemeName | undefined, metric: Metric): Metric {
  const { name, scheme = common ?? defaultScheme(metric.statistic), ...rest } = metric;
  const { eventsPerTick: _, ...unlimited } = rest as typeof rest & { eventsPerTick?: number };
  return {
    name,
    ...(!common && { scheme }),
    ...(limitsEvents(scheme, metric.statistic) ? rest : unlimited),
  } as Metric;
}

/** The scheme of a metric: its own, else its task's, else that of its statistic. */
export function schemeOf(
  task: Pick<Task, "scheme">,
  { scheme, statistic }: Pick<Metric, "scheme" | "statistic">,
): SchemeName {
  return scheme ?? task.scheme ?? defaultScheme(statistic);
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

type JointMetric = Extract<Metric, { readonly localEpsilon: number }>;

/**
 * The statistics that a device runs for a task of one server: first those whose metrics run together, one for each
 * scheme; then each other metric has its own, in the task's order.
 */
export function statisticsOf(task: Pick<Task, "ticks" | "hides" | "scheme" | "metrics">): readonly TaskStatistic[] {
  const writes = writesOf(task);
  const noised = task.metrics.filter((metric) => metric.noise === undefined);
  const joint = SCHEMES.flatMap((scheme) =>
    JOINT.map((statistic) => {
      const own = noised.filter((metric) => metric.statistic === statistic && schemeOf(task, metric) === scheme);
      const localEpsilons = own.map((metric) => (metric as JointMetric).localEpsilon);
      const events = own.map(({ name, event = name }) => event);
      return { scheme, spec: { statistic, ...writes, events, localEpsilons }, metrics: own.map(({ name }) => name) };
    }),
  ).filter(({ metrics }) => metrics.length);
  const others = noised
    .filter((metric) => !isJoint(metric.statistic))
    .map(({ name, scheme, event = name, ...spec }) => ({
      scheme: schemeOf(task, { scheme, ...spec }),
      spec: { event, ...spec, ...writes, ...(task.hides === undefined && { roomPerTick: true }) },
      metrics: [name],
    }));
  return [...joint, ...others] as TaskStatistic[];
}
