import { ANY, crossTableOf } from "@lethe/analyst";
import type { ReleasedMetric } from "@lethe/core/message";
import { formatFigure, formatTable } from "../print/table.ts";

/** A metric about pairs of categories as a table, with the sums of its rows and columns; nothing of any other metric. */
export function describeTable(metric: ReleasedMetric): string[] {
  const table = crossTableOf(metric);
  if (!table) return [];
  const shown = (row: string, column: string): string => {
    const figure = table.figureAt(row, column);
    if (!figure) return "";
    const { estimate, standardError } = figure;
    return `${formatFigure(estimate, metric.statistic)} ± ${formatFigure(standardError, metric.statistic)}`;
  };
  const columns = [...table.columns, ANY];
  return [
    formatTable(
      [`${metric.name}, ± s.e.`, ...columns],
      [...table.rows, ANY].map((row) => [row, ...columns.map((column) => shown(row, column))]),
      1,
    ),
    "",
  ];
}
