import { FINISHED_WORDS, type FinishedWindow, figureIn, type Series, seriesOf } from "@lethe/analyst";
import { type Bar, type Gap, renderBars } from "@lethe/lab/plot";
import { count } from "../print/table.ts";
import { utc } from "../print/time.ts";

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

/** "28 released, 1 with too few devices, 1 lost". */
function countsOf(windows: readonly FinishedWindow[]): string {
  return Object.entries(FINISHED_WORDS)
    .map(([status, words]) => ({ words, times: windows.filter((window) => window.status === status).length }))
    .filter(({ times }) => times > 0)
    .map(({ words, times }) => `${count(times)} ${words}`)
    .join(", ");
}

function titleOf({ group, name, label, statistic }: Series): string {
  const figure = label === undefined ? name : `${name} ${label}`;
  return `${figure} (${statistic})${group === undefined ? "" : `, group ${group}`}`;
}

function rowOf(window: FinishedWindow, series: Series): Bar | Gap {
  const name = `${window.window} ${utc(window.from).slice(5, 16)}`;
  const found = figureIn(window, series);
  if ("figure" in found) return { name, value: found.figure.estimate, interval: found.figure.interval };
  if (found.gap === "not-enough") return { name, text: `too few devices: ${count(found.missing)} more needed` };
  return { name, text: found.gap === "not-asked" ? "not asked" : FINISHED_WORDS[found.gap] };
}
