import { entryOf, type StatisticName } from "@lethe/core/statistic";
import { addUp } from "../arithmetic/add-up.ts";

/** As much of a metric, or of a statistic's settings, as its answers depend on. */
interface Shape {
  readonly statistic: StatisticName;
  readonly edges?: readonly number[];
  readonly limit?: number;
}

/** What one device truly adds to each sum of a metric, with this many events. */
export function trueAnswer(shape: Shape, events: number): readonly number[] {
  return answersOf(shape).answer(shape, events);
}

/** The figures that the sums of all devices' true answers give: the sums, or what they are per device. */
export function figuresFrom(shape: Shape, sums: readonly number[], devices: number): number[] {
  return answersOf(shape).output === "average" ? sums.map((sum) => sum / devices) : [...sums];
}

/** The figures of a metric without any noise, from the number of events on each device. */
export function trueFigures(shape: Shape, events: readonly number[]): number[] {
  return figuresFrom(shape, addUp(events.map((count) => trueAnswer(shape, count))), events.length);
}

/** The names of these figures, if there are several. */
export function figureLabels(shape: Shape): readonly string[] {
  return answersOf(shape).labels(shape);
}

function answersOf({ statistic }: Shape) {
  return entryOf(statistic).answers;
}
