import { type LabelledFigure, type ReleasedMetric, summaryOf } from "@lethe/core/message";
import { formatFigure, formatTable } from "../print/table.ts";

/** How a release names the pair of two categories. */
const TIMES = " × ";
/** And all categories of a side. */
const ANY = "any";

/** A metric about pairs of categories as a table, with the sums of its rows and columns; nothing of any other metric. */
export function describeTable(metric: ReleasedMetric): string[] {
  const { margins } = summaryOf(metric);
  if (!margins || !("buckets" in metric)) return [];
  const cells = new Map<string, string>();
  const put = (label: string, { estimate, standardError }: LabelledFigure["figure"]): void => {
    const [shown, error] = [estimate, standardError].map((value) => formatFigure(value, metric.statistic));
    cells.set(label, `${shown} ± ${error}`);
  };
  for (const figure of metric.buckets) put(figure.bucket, figure);
  for (const { label = "", figure } of margins) put(label, figure);
  const pairs = margins.map(({ label = "" }) => label.split(TIMES) as [string, string]);
  const rows = pairs.filter(([, second]) => second === ANY).map(([first]) => first);
  const columns = pairs.filter(([first]) => first === ANY).map(([, second]) => second);
  return [
    formatTable(
      [`${metric.name}, ± s.e.`, ...columns, ANY],
      [...rows, ANY].map((row) => [row, ...[...columns, ANY].map((column) => cells.get(row + TIMES + column) ?? "")]),
      1,
    ),
    "",
  ];
}
