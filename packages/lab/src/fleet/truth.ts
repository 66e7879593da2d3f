import type { Task } from "@lethe/core/message";
import { bucketName, bucketOf } from "@lethe/core/statistic";

/** One figure that is true, beside which a release can be laid. */
export interface Truth {
  readonly name: string;
  /** Of a histogram. */
  readonly bucket?: string;
  readonly truth: number;
}

/** From how often each metric happened on each device. */
export function truthOf({ metrics }: Pick<Task, "metrics">, counts: readonly ReadonlyMap<string, number>[]): Truth[] {
  return metrics.flatMap((metric): Truth[] => {
    const { name } = metric;
    const events = counts.map((count) => count.get(name) ?? 0);
    const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
    if (metric.statistic === "occurrence") return [{ name, truth: sum(events.map((count) => Math.min(count, 1))) }];
    if (metric.statistic === "mean") {
      return [{ name, truth: sum(events.map((count) => Math.min(count, metric.limit))) / counts.length }];
    }
    return metric.edges.map((_, bucket) => ({
      name,
      bucket: bucketName(metric.edges, bucket),
      truth: sum(events.map((count) => Number(bucketOf(metric.edges, count) === bucket))),
    }));
  });
}
