import { differencesOf } from "@lethe/analyst";
import type { MetricDifference, Release, ReleasedMetric } from "@lethe/core/message";
import { entryOf } from "@lethe/core/statistic";
import { count, figure, formatFigure, formatTable } from "../print/table.ts";

const points = (value: number): string => value.toFixed(2).replace(/^-(0\.00)$/, "$1");

/** The groups of a release: their figures, how they differ, and which are not released. */
export function describeGroups(
  { groups = [], differences = [] }: Release,
  rowsOf: (metric: ReleasedMetric) => string[][],
): string[] {
  return [
    ...groups.flatMap((group) => {
      const which = `group ${group.group}: ${count(group.received)} of ${count(group.enrolled)} enrolled devices reported`;
      if (group.status === "not-enough") {
        return [`${which}; not enough, ${count(group.missing)} more: it is in no figure`, ""];
      }
      // The first row of a metric has guarantees behind its figures, which are those of the total.
      const rows = group.metrics.flatMap(rowsOf).map((row) => row.slice(0, FIGURES.length));
      return [which, formatTable(FIGURES, rows, 2), ""];
    }),
    ...differences.flatMap(({ group, minus, metrics }) => [
      `${group} minus ${minus}, per device`,
      formatTable(
        ["metric", "statistic", "difference", "± s.e.", "95% interval", "p"],
        metrics.flatMap(differenceRows),
        2,
      ),
      "",
    ]),
  ];
}

const FIGURES = ["metric", "statistic", "estimate", "± s.e.", "95% interval", "consistent"];

function differenceRows(metric: MetricDifference): string[][] {
  const { name, statistic } = metric;
  const { outputs } = entryOf(statistic).answers;
  const isShare = "buckets" in metric || !outputs.includes("average");
  // Shares of devices are differences in percentage points.
  const shown = (value: number): string => (isShare ? points(100 * value) : formatFigure(value, statistic, true));
  const unit = isShare ? " pp" : "";
  return differencesOf(metric).map(({ label, estimate, standardError, interval, pValue }) => [
    label === undefined ? name : `${name} ${label}`,
    statistic,
    `${shown(estimate)}${unit}`,
    `${shown(standardError)}${unit}`,
    `[${interval.map(shown).join(", ")}]`,
    pValue < 1e-4 ? "< 0.0001" : figure(pValue),
  ]);
}
