import type { Truth } from "@lethe/analyst";
import type { Task } from "@lethe/core/message";
import type { EventStream } from "@lethe/core/statistic";
import { figureLabels, shapeOf, trueFigures } from "../simulate/true-figures.ts";

/** The true figures of all metrics, from what happened on each device. */
export function truthOf(task: Pick<Task, "metrics" | "ticks">, streams: readonly EventStream[]): Truth[] {
  return task.metrics.flatMap((metric): Truth[] => {
    const { name } = metric;
    const shape = shapeOf(task, metric);
    const labels = figureLabels(shape);
    return trueFigures(shape, streams).map((truth, i) => {
      const bucket = labels[i];
      return { name, ...(bucket !== undefined && { bucket }), truth };
    });
  });
}
