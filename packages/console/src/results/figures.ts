import { crossTableOf, type FigureOrGap, type FinishedWindow, figureIn, isAverage, type Series } from "@lethe/analyst";
import { type Figure, figuresOf, type LabelledFigure, type ReleasedMetric, summaryOf } from "@lethe/core/message";
import type { Cell, TableData } from "../chart/figure.tsx";
import type { Point } from "../chart/interval-plot.tsx";
import type { Truths } from "../demonstration/truth.ts";
import { decimal, percent, whole } from "../format/number.ts";
import type { Values } from "./choices.ts";

/** What a figure counts: devices, a share of the devices, or a number per device. */
export type Unit = "devices" | "share" | "average";

/** How a number of a unit is printed: releases have more digits than mean anything. */
export function formatterOf(unit: Unit): (value: number) => string {
  if (unit === "devices") return whole;
  return unit === "share" ? (value) => percent(value) : (value) => decimal(value, 3);
}

/** How a number is printed on an axis, where round numbers need fewer decimals. */
export function axisFormatterOf(unit: Unit): (value: number) => string {
  if (unit === "devices") return (value) => decimal(value, Number.isInteger(value) ? 0 : 1);
  if (unit === "share") return (value) => percent(value, Number.isInteger(Number((100 * value).toFixed(6))) ? 0 : 1);
  return (value) => decimal(value, Number.isInteger(value) ? 0 : 2);
}

/** The unit of a metric's own figures. */
function unitOf(metric: ReleasedMetric): Unit {
  return isAverage(metric) ? "average" : "devices";
}

/** The figures that a plot of a metric shows, and their unit: what follows from its categories, if that says more. */
export interface Shown {
  readonly unit: Unit;
  readonly figures: readonly LabelledFigure[];
  /** Where they are, if not among the categories. */
  readonly summary?: "reached" | "curve";
}

/** Of a funnel the steps that devices reached, of a retention its curve, of all others the figures themselves. */
export function shownOf(metric: ReleasedMetric): Shown {
  const { reached, curve } = summaryOf(metric);
  if (reached) return { unit: "devices", figures: reached, summary: "reached" };
  if (curve) return { unit: "share", figures: curve, summary: "curve" };
  return { unit: unitOf(metric), figures: figuresOf(metric) };
}

/** How a metric is drawn. */
export type Kind = "single" | "funnel" | "retention" | "table" | "histogram" | "choice";

/** The kind follows from what the release has, not from the statistic alone: an automaton can be one figure or many. */
export function kindOf(metric: ReleasedMetric): Kind {
  if (!("buckets" in metric)) return "single";
  if (metric.reached) return "funnel";
  if (metric.curve) return "retention";
  if (crossTableOf(metric)) return "table";
  return metric.quantiles || ["histogram", "active-periods"].includes(metric.statistic) ? "histogram" : "choice";
}

/**
 * The category whose trend is shown if the reader chose none that exists. Of steps and periods it is the last. The
 * first of several categories is usually "nothing happened", so it is the second of them.
 */
export function defaultLabel(metric: ReleasedMetric): string | undefined {
  const { figures, summary } = shownOf(metric);
  return (summary ? figures.at(-1) : (figures[1] ?? figures[0]))?.label;
}

/** The series of a metric that the reader chose, or its default. */
export function chosenSeries(metric: ReleasedMetric, chosen: string | undefined, group: string | undefined): Series {
  const { figures, summary } = shownOf(metric);
  const label = figures.some((each) => each.label === chosen) ? chosen : defaultLabel(metric);
  return { group, name: metric.name, statistic: metric.statistic, label, ...(summary && { summary }) };
}

/** A category in a sentence: of a funnel the step at which devices stopped, of a retention the periods of a pattern. */
export function categoryWords({ statistic }: Pick<ReleasedMetric, "statistic">, label: string): string {
  if (statistic === "funnel") return label === "none" ? "no step" : `stopped at ${label}`;
  if (statistic !== "retention") return label;
  const periods = Array.from(label).flatMap((bit, i) => (bit === "1" ? [i + 1] : []));
  if (periods.length === 0) return "in no period";
  return periods.length === label.length ? "in every period" : `only in period ${periods.join(", ")}`;
}

/** The value of a figure that is shown. */
export function shownValue(figure: Figure, values: Values): number {
  return values === "raw" ? figure.estimate : figure.consistent;
}

/** Why a window has no figure, in words. */
export function describeGap(gap: Exclude<FigureOrGap, { readonly figure: Figure }>): string {
  if (gap.gap === "not-enough") return `too few devices: ${whole(gap.missing)} more needed`;
  if (gap.gap === "lost") return "lost: its secret is gone";
  return gap.gap === "not-released" ? "not released" : "not asked in this window";
}

/** A series over windows, for the plot: a value with its interval, or a gap with its reason. */
export function pointsOf(
  windows: readonly FinishedWindow[],
  series: Series,
  values: Values,
  nameOf: (window: FinishedWindow) => string,
  truths?: Truths,
): Point[] {
  return windows.map((window) => {
    const found = figureIn(window, series);
    if (!("figure" in found)) return { name: nameOf(window), gap: describeGap(found) };
    const { interval } = found.figure;
    return {
      name: nameOf(window),
      value: shownValue(found.figure, values),
      interval,
      ...truthOf(truths, window, series),
    };
  });
}

/** What really happened, as a plot takes it; nothing if no demonstration knows. */
export function truthOf(
  truths: Truths | undefined,
  { window }: Pick<FinishedWindow, "window">,
  figure: Parameters<Truths>[1],
): { readonly truth?: number } {
  const truth = truths?.(window, figure);
  return truth === undefined ? {} : { truth };
}

/** The headings of `figureCells`. */
export const FIGURE_COLUMNS = ["estimate", "95% from", "to", "consistent"] as const;
/** The heading of what really happened, in a demonstration. */
export const TRUTH_COLUMN = "what really happened (only this demonstration knows)";

/** All numbers of a figure for a table, each with the number that the release has. */
export function figureCells({ estimate, interval: [low, high], consistent }: Figure, unit: Unit): Cell[] {
  const format = formatterOf(unit);
  return [estimate, low, high, consistent].map((value) => ({ text: format(value), value }));
}

/** The table with a last column for what really happened: the value of each row, or undefined. */
export function withTruth(
  { columns, rows }: TableData,
  unit: Unit,
  truths: readonly { readonly truth?: number }[],
): TableData {
  const format = formatterOf(unit);
  const cellOf = (value: number | undefined): Cell => (value === undefined ? "" : { text: format(value), value });
  return { columns: [...columns, TRUTH_COLUMN], rows: rows.map((row, i) => [...row, cellOf(truths[i]?.truth)]) };
}
