import type { Metric, Task } from "@lethe/core/message";
import { type AnyShape, type EventStream, entryOf, type StatisticName } from "@lethe/core/statistic";
import { addUp } from "../arithmetic/add-up.ts";

/** As much of a metric, or of a statistic's settings, as its answers depend on. */
type Shape = AnyShape & { readonly statistic: StatisticName };

/** The shape of a metric of a task. Its event has the metric's name if it states no other. */
export function shapeOf({ ticks }: Pick<Task, "ticks">, metric: Metric): Shape {
  return { event: metric.name, ...metric, ticks };
}

/** What a device on which this happened truly adds to each sum of a metric. */
export function trueAnswer(shape: Shape, stream: EventStream): readonly number[] {
  return answersOf(shape).answer(shape, stream);
}

/** The figures that the sums of all devices' true answers give: the sums, or what they are per device. */
export function figuresFrom(shape: Shape, sums: readonly number[], devices: number): number[] {
  return answersOf(shape).output(shape) === "average" ? sums.map((sum) => sum / devices) : [...sums];
}

/** The figures of a metric without any noise, from what happened on each device. */
export function trueFigures(shape: Shape, streams: readonly EventStream[]): number[] {
  return figuresFrom(shape, addUp(streams.map((stream) => trueAnswer(shape, stream))), streams.length);
}

/** The names of these figures, if there are several. */
export function figureLabels(shape: Shape): readonly string[] {
  return answersOf(shape).labels(shape);
}

function answersOf({ statistic }: Shape) {
  return entryOf(statistic).answers;
}
