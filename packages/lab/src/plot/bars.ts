import { createScale, printable, type Scale, wrap } from "./plot.ts";
import { dotAt, drawXAxis } from "./terminal.ts";

/** Values of one kind, each with an error bar. */
export interface BarChart {
  readonly title: string;
  readonly bars: readonly (Bar | Gap)[];
}

/** One value and its error bar. */
export interface Bar {
  readonly name: string;
  readonly value: number;
  readonly interval: readonly [low: number, high: number];
}

/** A row without a value, and why it has none. */
export interface Gap {
  readonly name: string;
  readonly text: string;
}

/**
 * Draws a bar from 0 to each value, with its interval over it, for a terminal. At most `columns` wide if every
 * character takes one.
 */
export function renderBars({ title, bars }: BarChart, columns = 78): string {
  if (!Number.isInteger(columns) || columns < 40) throw new RangeError("columns must be a whole number, at least 40");
  if (bars.length === 0) throw new RangeError("the chart has no bars");
  const names = bars.map(({ name }) => shortened(printable(name), Math.floor(columns / 2) - 4));
  const margin = names.reduce((most, name) => Math.max(most, [...name].length), 0) + 2;
  const width = columns - margin - 2;
  const values = bars.flatMap((bar) => ("text" in bar ? [] : [bar.value, ...bar.interval]));
  const x = createScale({ label: "", scale: "linear" }, [0, ...values], Math.max(2, Math.floor(width / 9)));
  return [
    ...wrap(title, columns),
    ...bars.map(
      (bar, i) =>
        `${padded(names[i] as string, margin - 2)} │${"text" in bar ? ` ${shortened(printable(bar.text), width - 1)}` : drawBar(bar, x, width)}`,
    ),
    ...drawXAxis(x, margin, width),
  ]
    .map((line) => line.trimEnd())
    .join("\n");
}

function drawBar({ value, interval: [low, high] }: Bar, x: Scale, width: number): string {
  const at = (value: number): number => dotAt(x, value, 2 * width) >> 1;
  const cells = new Array<string>(width).fill(" ");
  const zero = at(0);
  if (x.low < 0) cells[zero] = "┊";
  cells.fill("█", Math.min(zero, at(value)), Math.max(zero, at(value)));
  cells.fill("─", at(low), at(high));
  cells[at(low)] = "├";
  cells[at(high)] = "┤";
  cells[at(value)] = "●";
  return cells.join("");
}

function shortened(name: string, most: number): string {
  const letters = [...name];
  return letters.length <= most ? name : `${letters.slice(0, most - 1).join("")}…`;
}

function padded(name: string, width: number): string {
  return name + " ".repeat(width - [...name].length);
}
