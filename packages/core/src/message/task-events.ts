import type { Metric } from "../statistic/spec.ts";
import { entryOf } from "../statistic/table.ts";
import type { Task } from "./task.ts";

/** The names of the events that a metric is about, each once. */
export function eventsOfMetric({ ticks }: Pick<Task, "ticks">, metric: Metric): readonly string[] {
  return entryOf(metric.statistic).task.events(metric, { ticks });
}

/** The names of all events of a task, each once, in the order in which its metrics name them: what `record` takes. */
export function eventsOf(task: Pick<Task, "metrics" | "ticks">): readonly string[] {
  return [...new Set(task.metrics.flatMap((metric) => eventsOfMetric(task, metric)))];
}
