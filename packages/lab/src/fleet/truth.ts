import type { Task } from "@lethe/core/message";
import { figureLabels, trueFigures } from "../simulate/true-figures.ts";

/** One true figure, to compare a release with. */
export interface Truth {
  readonly name: string;
  /** Of a histogram. */
  readonly bucket?: string;
  readonly truth: number;
}

/** The true figures of all metrics, from how often each metric happened on each device. */
export function truthOf({ metrics }: Pick<Task, "metrics">, counts: readonly ReadonlyMap<string, number>[]): Truth[] {
  return metrics.flatMap((metric): Truth[] => {
    const { name } = metric;
    const labels = figureLabels(metric);
    const events = counts.map((count) => count.get(name) ?? 0);
    return trueFigures(metric, events).map((truth, i) => {
      const bucket = labels[i];
      return { name, ...(bucket !== undefined && { bucket }), truth };
    });
  });
}
