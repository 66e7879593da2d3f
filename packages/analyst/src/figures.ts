import type { FigureDifference, LabelledFigure, MetricDifference, ReleasedMetric } from "@lethe/core/message";
import { summaryOf } from "@lethe/core/message";

/** The differences of a metric in their order: one, or one for every category. */
export function differencesOf(metric: MetricDifference): readonly (FigureDifference & { readonly label?: string })[] {
  return "buckets" in metric ? metric.buckets.map((bucket) => ({ ...bucket, label: bucket.bucket })) : [metric];
}

/** The δ of the local guarantee, which is 0 unless the noise is Gaussian. */
export function localDelta({ mechanism, delta }: ReleasedMetric): number {
  return mechanism === "discrete-gaussian" ? delta : 0;
}

/**
 * Whether the figure of a metric, or a difference, is a number per device. All other figures are numbers of devices.
 * The statistics say so themselves in core's table, but that table contains their encryption too; a test compares.
 */
export function isAverage(metric: ReleasedMetric | MetricDifference): boolean {
  return !("buckets" in metric) && metric.statistic !== "occurrence";
}

/** A metric about pairs of categories as a table. */
export interface CrossTable {
  readonly rows: readonly string[];
  readonly columns: readonly string[];
  /** The figure of a pair; `ANY` on one side is all categories of that side. Undefined if the release has none. */
  figureAt(row: string, column: string): LabelledFigure["figure"] | undefined;
}

/** How a release names the pair of two categories. */
const TIMES = " × ";
/** And all categories of a side. */
export const ANY = "any";

/** The table of a metric about pairs of categories, with the sums of its rows and columns; undefined for any other. */
export function crossTableOf(metric: ReleasedMetric): CrossTable | undefined {
  const { margins } = summaryOf(metric);
  if (!margins || !("buckets" in metric)) return undefined;
  const figures = new Map<string, LabelledFigure["figure"]>();
  for (const figure of metric.buckets) figures.set(figure.bucket, figure);
  for (const { label = "", figure } of margins) figures.set(label, figure);
  const pairs = margins.map(({ label = "" }) => label.split(TIMES) as [string, string]);
  return {
    rows: pairs.filter(([, second]) => second === ANY).map(([first]) => first),
    columns: pairs.filter(([first]) => first === ANY).map(([, second]) => second),
    figureAt: (row, column) => figures.get(row + TIMES + column),
  };
}
