import { type Metric, schemeOf, type Task } from "@lethe/core/message";
import { limitsEvents, SCHEME_TABLE } from "@lethe/core/statistic";
import { count } from "./table.ts";

/**
 * "288 ticks and 1,000 page hides: at most 1,288 writes". Old manifests lack `hides` and allow as many as there are
 * ticks.
 */
export function describeWrites({ ticks, hides = ticks }: Pick<Task, "ticks" | "hides">): string {
  return `${counted(ticks, "tick")} and ${counted(hides, "page hide")}: at most ${counted(ticks + hides, "write")}`;
}

/** "at most 3 events between two writes are counted". */
export function describeLimit(eventsPerTick: number): string {
  return `at most ${counted(eventsPerTick, "event")} between two writes ${eventsPerTick === 1 ? "is" : "are"} counted`;
}

/** How many events of a metric are counted between two writes. Only histograms and means on lattices have a limit. */
export function limitOf(task: Pick<Task, "mode" | "scheme">, metric: Metric): number | undefined {
  const isLimited = task.mode === "one-server" && limitsEvents(schemeOf(task, metric), metric.statistic);
  return isLimited && "eventsPerTick" in metric ? metric.eventsPerTick : undefined;
}

/** One line per limit in a task, with the metrics that have it. */
export function describeLimits(task: Task): string[] {
  const metricsBy = new Map<number, string[]>();
  for (const metric of task.metrics) {
    const limit = limitOf(task, metric);
    if (limit !== undefined) metricsBy.set(limit, [...(metricsBy.get(limit) ?? []), metric.name]);
  }
  // With manifests that lack `hides`, a device counts no events between a page hide and the next tick.
  const old = task.hides === undefined ? ", and none after a page hide until the next tick" : "";
  return [...metricsBy].map(([limit, metrics]) => `${listed(metrics)}: ${describeLimit(limit)}${old}`);
}

/**
 * What an intruder who captures a device may learn in spite of the encryption: with a quantum computer, and from its
 * memory.
 */
export function describeExposure(task: Task): string[] {
  const underElGamal = task.metrics
    .filter((metric) => !SCHEME_TABLE[schemeOf(task, metric)].isPostQuantum)
    .map(({ name }) => name);
  const limited = task.metrics.filter((metric) => limitOf(task, metric) !== undefined).map(({ name }) => name);
  const inMemory = [
    ...(limited.length > 0 ? [`how many events of ${listed(limited)} were counted since the last write`] : []),
    ...(underElGamal.length > 0
      ? [`old ciphertexts of ${listed(underElGamal)}, which show what changed since the last write`]
      : []),
  ];
  return [
    ...(underElGamal.length > 0
      ? [`${listed(underElGamal)}: ElGamal, which is not post-quantum: a quantum computer could open captured states`]
      : []),
    `a memory dump may hold ${inMemory.length > 0 ? inMemory.join("; ") : "ciphertexts, which show nothing of events"}`,
  ];
}

function counted(value: number, what: string): string {
  return `${count(value)} ${what}${value === 1 ? "" : "s"}`;
}

/** More names do not fit on a line. */
const MOST_NAMES = 4;

function listed(names: readonly string[]): string {
  if (names.length <= MOST_NAMES) return names.join(", ");
  return `${names.slice(0, MOST_NAMES - 1).join(", ")} and ${count(names.length - MOST_NAMES + 1)} more`;
}
