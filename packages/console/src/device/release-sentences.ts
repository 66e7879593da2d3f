import type { PublishedWindow } from "@lethe/analyst";
import type { Figure, ReleasedMetric } from "@lethe/core/message";
import { significant, whole } from "../format/number.ts";

/** The length of a task's windows, in seconds. */
export function lengthOf({ ticks, tickSeconds }: { readonly ticks: number; readonly tickSeconds: number }): number {
  return ticks * tickSeconds;
}

/**
 * The windows that an event of this moment may be counted in: the running one; in its first second also the one before,
 * because the SDK's timer may be late.
 */
export function countedIn(length: number, now: number): readonly number[] {
  const running = Math.floor(now / length);
  return Math.floor((now - 1) / length) < running ? [running - 1, running] : [running];
}

/** Windows that are remembered. */
const MOST_CLICKED = 4;

/** Adds the windows of an event to those of earlier ones, newest first, each once. */
export function withClick(
  clicked: readonly (readonly number[])[],
  windows: readonly number[],
): readonly (readonly number[])[] {
  const others = clicked.filter((each) => each.join() !== windows.join());
  return [windows, ...others].slice(0, MOST_CLICKED);
}

/** "window 7", or "window 6 or 7". */
export function windowNames(windows: readonly number[]): string {
  return `window ${windows.join(" or ")}`;
}

/** What was published about a window in which the visitor recorded something. */
export function publishedSentence(published: PublishedWindow, windows: readonly number[]): string {
  const name = windowNames([published.window]);
  const own = windows.length > 1 ? ", or the one before it, contains" : " contains";
  switch (published.status) {
    case "released":
      return `The release of ${name}${own} what you recorded, with the reports of ${devices(published.received)}.`;
    case "shared":
      return `Both servers publish their shares of ${name}. Results puts them together.`;
    case "not-enough":
      return `Nothing was released of ${name}: ${devices(published.received)} reported, and it takes more.`;
    case "lost":
      return `Nothing was released of ${name}: the service lost it.`;
  }
}

function devices(count: number): string {
  return count === 1 ? "1 device" : `${whole(count)} devices`;
}

/** An estimate with its standard error. */
export function figureText({ estimate, standardError }: Figure): string {
  return `${significant(Math.round(100 * estimate) / 100)} ± ${significant(standardError, 2)}`;
}

/** The figures that a list has room for. */
export const MOST_FIGURES = 8;

/** The metric, and the category if it has several. */
export function figureName({ name }: ReleasedMetric, label: string | undefined): string {
  return label === undefined ? name : `${name}: ${label}`;
}
