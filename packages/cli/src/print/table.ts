/** Rows under a header, columns padded to the widest entry; all but the first `left` columns to the right. */
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

/** Counts without decimals, means with a few. */
export function formatFigure(value: number, statistic: string): string {
  return value.toFixed(statistic === "mean" ? 3 : 0).replace(/^-(0(\.0*)?)$/, "$1");
}

/** Four digits, or all of a large number. */
export function figure(value: number): string {
  if (value >= 10_000) return count(Math.round(value));
  if (value < 1e-3 && value > 0) return value.toExponential(3).replace(/\.?0*e/, "e");
  return String(Number(value.toPrecision(4)));
}

/** 12,345 */
export function count(value: number): string {
  return value.toLocaleString("en-US");
}
