/**
 * What several commands print: tables, times, progress, and sentences about a task's room. It may import `options` and
 * `system`, and nothing else of the command.
 */
import { entryOf, type StatisticName } from "@lethe/core/statistic";

/**
 * Rows under a header. Columns are as wide as their widest cell; the first `left` columns are aligned left, the others
 * right.
 */
export function formatTable(header: readonly string[], rows: readonly (readonly string[])[], left: number): string {
  const widths = header.map((title, i) =>
    rows.reduce((widest, row) => Math.max(widest, (row[i] ?? "").length), title.length),
  );
  return [header, ...rows]
    .map((row) =>
      row
        .map((cell, i) => (i < left ? cell.padEnd(widths[i] as number) : cell.padStart(widths[i] as number)))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** A figure of a release, with as many decimals as figures of its statistic have, or its averages. */
export function formatFigure(value: number, statistic: StatisticName, isAverage = false): string {
  const { words, averageWords = words } = entryOf(statistic);
  return value.toFixed((isAverage ? averageWords : words).decimals).replace(/^-(0(\.0*)?)$/, "$1");
}

/** Four significant digits, or all digits of a large number. */
export function figure(value: number): string {
  if (value >= 10_000) return count(Math.round(value));
  if (value < 1e-3 && value > 0) return value.toExponential(3).replace(/\.?0*e/, "e");
  return String(Number(value.toPrecision(4)));
}

/** A count as 12,345. */
export function count(value: number): string {
  return value.toLocaleString("en-US");
}
