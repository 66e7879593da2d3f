import { type Figure, figuresOf, quantilesOf, type ReleasedMetric } from "@lethe/core/message";
import { iso } from "../print/time.ts";
import { localDelta } from "./text.ts";
import type { FinishedWindow } from "./trend.ts";

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
  "quantiles",
  "quantiles_low",
  "quantiles_high",
  "status",
];

/**
 * Windows in CSV (RFC 4180), one row per figure. In the row of a bucket are the quantiles that are estimated to be in
 * it, and those whose intervals begin and end with it. A window without figures is a row without any: its `status` says
 * why.
 */
export function toCsv(windows: readonly FinishedWindow[]): string {
  return [HEADER, ...windows.flatMap(rowsOf)]
    .map((row) => `${row.map((cell) => quoted(String(cell))).join(",")}\r\n`)
    .join("");
}

function rowsOf(outcome: FinishedWindow): (string | number)[][] {
  const { task, window, from, to, status } = outcome;
  const [version, received] = status === "not-released" ? ["", ""] : [outcome.version, outcome.received];
  const place = [task, version, window, iso(from), iso(to), received];
  if (status !== "released") {
    const empty = new Array<string>(HEADER.length - place.length - 1).fill("");
    return [[...place, ...empty, status]];
  }
  return outcome.metrics.flatMap((metric) => {
    const { name, statistic, localEpsilon, epsilon, delta } = metric;
    const row = (bucket: string, { estimate, standardError, interval, consistent }: Figure): (string | number)[] => [
      ...[...place, name, statistic, bucket],
      ...[estimate, standardError, ...interval, consistent],
      ...[localEpsilon, localDelta(metric), epsilon, delta],
      ...(["bucket", "low", "high"] as const).map((end) => quantilesAt(metric, end, bucket)),
      status,
    ];
    return figuresOf(metric).map(({ label = "", figure }) => row(label, figure));
  });
}

/** The quantiles whose bucket, or whose first or last one, has this name: "0.5 0.9". */
function quantilesAt(metric: ReleasedMetric, end: "bucket" | "low" | "high", bucket: string): string {
  return quantilesOf(metric)
    .filter((quantile) => quantile[end] === bucket)
    .map(({ q }) => q)
    .join(" ");
}

function quoted(cell: string): string {
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
