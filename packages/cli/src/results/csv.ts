import { type Figure, figuresOf, type Release, summaryOf } from "@lethe/core/message";
import { iso } from "../print/time.ts";
import { localDelta } from "./text.ts";

const HEADER = [
  "task",
  "version",
  "window",
  "from",
  "to",
  "received",
  "metric",
  "statistic",
  "bucket",
  "estimate",
  "standard_error",
  "interval_low",
  "interval_high",
  "consistent",
  "local_epsilon",
  "local_delta",
  "aggregate_epsilon",
  "aggregate_delta",
];

/**
 * A release in CSV (RFC 4180), one row per figure; the header alone if there is no release. Figures about several
 * categories of a metric have rows of their own, whose statistic says so: "funnel.reached".
 */
export function toCsv(release: Release | undefined): string {
  return [HEADER, ...(release ? rowsOf(release) : [])]
    .map((row) => `${row.map((cell) => quoted(String(cell))).join(",")}\r\n`)
    .join("");
}

function rowsOf({ task, version, window, from, to, received, metrics }: Release): (string | number)[][] {
  return metrics.flatMap((metric) => {
    const { name, statistic, localEpsilon, epsilon, delta } = metric;
    const row = (
      rows: string,
      bucket: string,
      { estimate, standardError, interval, consistent }: Figure,
    ): (string | number)[] => [
      ...[task, version, window, iso(from), iso(to), received, name, rows, bucket],
      ...[estimate, standardError, ...interval, consistent],
      ...[localEpsilon, localDelta(metric), epsilon, delta],
    ];
    const summary = Object.entries(summaryOf(metric));
    return [
      ...figuresOf(metric).map(({ label = "", figure }) => row(statistic, label, figure)),
      ...summary.flatMap(([field, figures]) =>
        figures.map(({ label = "", figure }) => row(`${statistic}.${field}`, label, figure)),
      ),
    ];
  });
}

function quoted(cell: string): string {
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
