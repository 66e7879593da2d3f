/** Rows under a header, columns padded to the widest entry; all but the first `left` columns to the right. */
export function formatTable(header: readonly string[], rows: readonly (readonly string[])[], left: number): string {
  const widths = header.map((title, i) => Math.max(title.length, ...rows.map((row) => (row[i] ?? "").length)));
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
  return value.toFixed(statistic === "mean" ? 3 : 0);
}
