import type { UnreleasedWindow } from "@lethe/analyst";
import { type Figure, figuresOf, type ReleasedMetric, type ReleaseOrWithheld } from "@lethe/core/message";
import type { StatisticName } from "@lethe/core/statistic";
import { type Bar, type Gap, renderBars } from "@lethe/lab/plot";
import { count } from "../print/table.ts";
import { utc } from "../print/time.ts";

/** What is known of a window that is over. */
export type FinishedWindow = ReleaseOrWithheld | UnreleasedWindow;

/**
 * Every figure over several windows, as one chart per figure with a row per window. A row without a figure says why
 * there is none.
 */
export function describeTrend(task: string, windows: readonly FinishedWindow[], columns: number): string {
  const [first, last] = [windows[0], windows.at(-1)];
  if (!first || !last) return `no window of ${task} is finished yet`;
  return [
    `${task}, windows ${first.window} to ${last.window}: ${utc(first.from)} to ${utc(last.to)} UTC`,
    countsOf(windows),
    ...seriesOf(windows).flatMap((series) => {
      const bars = windows.map((window) => rowOf(window, series));
      return ["", renderBars({ title: titleOf(series), bars }, columns)];
    }),
  ].join("\n");
}

const WORDS: Readonly<Record<FinishedWindow["status"], string>> = {
  released: "released",
  "not-enough": "with too few devices",
  lost: "lost",
  "not-released": "not released",
};

/** "28 released, 1 with too few devices, 1 lost". */
function countsOf(windows: readonly FinishedWindow[]): string {
  return Object.entries(WORDS)
    .map(([status, words]) => ({ words, times: windows.filter((window) => window.status === status).length }))
    .filter(({ times }) => times > 0)
    .map(({ words, times }) => `${count(times)} ${words}`)
    .join(", ");
}

/** What a chart shows. */
interface Series {
  /** Undefined for all devices. */
  readonly group: string | undefined;
  readonly name: string;
  readonly label: string | undefined;
  readonly statistic: StatisticName;
}

function titleOf({ group, name, label, statistic }: Series): string {
  const figure = label === undefined ? name : `${name} ${label}`;
  return `${figure} (${statistic})${group === undefined ? "" : `, group ${group}`}`;
}

/** All figures that some window has: those of the newest release first, those of all devices before those of groups. */
function seriesOf(windows: readonly FinishedWindow[]): Series[] {
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

function rowOf(window: FinishedWindow, series: Series): Bar | Gap {
  const name = `${window.window} ${utc(window.from).slice(5, 16)}`;
  const tooFew = (missing: number): Gap => ({ name, text: `too few devices: ${count(missing)} more needed` });
  if (window.status === "not-enough") return tooFew(window.missing);
  if (window.status !== "released") return { name, text: WORDS[window.status] };
  const group = window.groups?.find((each) => each.group === series.group);
  if (group?.status === "not-enough") return tooFew(group.missing);
  const figure = figureIn(series.group === undefined ? window.metrics : (group?.metrics ?? []), series);
  return figure ? { name, value: figure.estimate, interval: figure.interval } : { name, text: "not asked" };
}

function figureIn(metrics: readonly ReleasedMetric[], { name, label, statistic }: Series): Figure | undefined {
  const metric = metrics.find((each) => each.name === name && each.statistic === statistic);
  return metric && figuresOf(metric).find((each) => each.label === label)?.figure;
}
