import { type Figure, figuresOf, type ReleasedMetric, type ReleaseOrWithheld, summaryOf } from "@lethe/core/message";
import type { UnreleasedWindow } from "./last-windows.ts";

/** What is known of a window that is over. */
export type FinishedWindow = ReleaseOrWithheld | UnreleasedWindow;

/** The states of windows that are over, in words. */
export const FINISHED_WORDS: Readonly<Record<FinishedWindow["status"], string>> = {
  released: "released",
  "not-enough": "with too few devices",
  lost: "lost",
  "not-released": "not released",
};

/** One figure over several windows. */
export interface Series {
  /** Undefined for all devices. */
  readonly group: string | undefined;
  readonly name: string;
  readonly label: string | undefined;
  readonly statistic: ReleasedMetric["statistic"];
  /** The field of the metric that has the figure, if it is none of the categories: "reached". */
  readonly summary?: keyof ReturnType<typeof summaryOf>;
}

/** All figures that some window has: those of the newest release first, those of all devices before those of groups. */
export function seriesOf(windows: readonly FinishedWindow[]): Series[] {
  const found = new Map<string, Series>();
  for (const window of windows.toReversed()) {
    if (window.status !== "released") continue;
    const groups = (window.groups ?? []).flatMap((group) => (group.status === "released" ? [group] : []));
    for (const { group, metrics } of [{ group: undefined, metrics: window.metrics }, ...groups]) {
      for (const metric of metrics) {
        const { name, statistic } = metric;
        for (const { label } of figuresOf(metric)) {
          const key = JSON.stringify([group, name, statistic, label]);
          if (!found.has(key)) found.set(key, { group, name, statistic, label });
        }
      }
    }
  }
  return [...found.values()];
}

/** The figure of a series in a window, or why there is none. */
export type FigureOrGap =
  | { readonly figure: Figure; readonly metric: ReleasedMetric; readonly devices: number }
  | { readonly gap: "not-enough"; readonly missing: number }
  | { readonly gap: "lost" | "not-released" | "not-asked" };

/** Finds the figure of a series in a window. */
export function figureIn(window: FinishedWindow, series: Series): FigureOrGap {
  if (window.status === "not-enough") return { gap: "not-enough", missing: window.missing };
  if (window.status !== "released") return { gap: window.status };
  const group = window.groups?.find((each) => each.group === series.group);
  if (group?.status === "not-enough") return { gap: "not-enough", missing: group.missing };
  const metrics = series.group === undefined ? window.metrics : (group?.metrics ?? []);
  const metric = metrics.find((each) => each.name === series.name && each.statistic === series.statistic);
  if (!metric) return { gap: "not-asked" };
  const figures = series.summary === undefined ? figuresOf(metric) : (summaryOf(metric)[series.summary] ?? []);
  const found = figures.find(({ label }) => label === series.label);
  if (!found) return { gap: "not-asked" };
  return { figure: found.figure, metric, devices: group?.received ?? window.devices ?? window.received };
}
