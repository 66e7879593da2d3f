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
