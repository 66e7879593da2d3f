import {
  type Figure,
  figuresOf,
  type GroupDifference,
  quantilesOf,
  type Release,
  type ReleasedMetric,
  summaryOf,
} from "@lethe/core/message";
import { differencesOf, localDelta } from "./figures.ts";
import type { FinishedWindow } from "./series.ts";

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
  "group",
  "minus",
  "p_value",
  "status",
];

/**
 * Windows in CSV (RFC 4180), one row per figure. In the row of a bucket are the quantiles that are estimated to be in
 * it, and those whose intervals begin and end with it. Figures about several categories of a metric have rows of their
 * own, whose statistic says so: "funnel.reached". A window without figures is a row without any: its `status` says why.
 * The rows of groups come after those of all devices, and then those of differences, which are per device: `group` minus
 * `minus`.
 */
export function toCsv(windows: readonly FinishedWindow[]): string {
  return [HEADER, ...windows.flatMap(rowsOf)]
    .map((row) => `${row.map((cell) => quoted(String(cell))).join(",")}\r\n`)
    .join("");
}

type Row = readonly (string | number)[];

function rowsOf(outcome: FinishedWindow): Row[] {
  const { task, window, from, to, status } = outcome;
  const [version, received] = status === "not-released" ? ["", ""] : [outcome.version, outcome.received];
  const place = (reports: number | string): Row => [task, version, window, iso(from), iso(to), reports];
  if (status !== "released") return [[...place(received), ...blanks("metric", "status"), status]];
  const { devices = received, metrics, groups = [], differences = [] } = outcome;
  return [
    ...figureRows(place(devices), metrics, ""),
    ...groups.flatMap((group) =>
      group.status === "released" ? figureRows(place(group.received), group.metrics, group.group) : [],
    ),
    ...differences.flatMap((difference) => differenceRows(place(""), difference)),
  ];
}

/** Empty cells from one column to before another. */
function blanks(from: string, to: string): Row {
  return new Array<string>(HEADER.indexOf(to) - HEADER.indexOf(from)).fill("");
}

function figureRows(place: Row, metrics: Release["metrics"], group: string): Row[] {
  return metrics.flatMap((metric) => {
    const { name, statistic, localEpsilon, epsilon, delta } = metric;
    const row = (rows: string, bucket: string, { estimate, standardError, interval, consistent }: Figure): Row => [
      ...[...place, name, rows, bucket],
      ...[estimate, standardError, ...interval, consistent],
      ...[localEpsilon, localDelta(metric), epsilon, delta],
      ...(["bucket", "low", "high"] as const).map((end) => quantilesAt(metric, end, bucket)),
      ...[group, "", "", "released"],
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

function differenceRows(place: Row, { group, minus, metrics }: GroupDifference): Row[] {
  return metrics.flatMap((metric) =>
    differencesOf(metric).map(({ label = "", estimate, standardError, interval, pValue }) => [
      ...[...place, metric.name, metric.statistic, label, estimate, standardError, ...interval],
      ...blanks("consistent", "group"),
      ...[group, minus, pValue, "released"],
    ]),
  );
}

/** The quantiles whose bucket, or whose first or last one, has this name: "0.5 0.9". */
function quantilesAt(metric: ReleasedMetric, end: "bucket" | "low" | "high", bucket: string): string {
  return quantilesOf(metric)
    .filter((quantile) => quantile[end] === bucket)
    .map(({ q }) => q)
    .join(" ");
}

/** A time in Unix seconds in the form of ISO 8601: 2026-03-01T12:00:00Z. */
function iso(seconds: number): string {
  return `${new Date(1000 * seconds).toISOString().slice(0, 19)}Z`;
}

function quoted(cell: string): string {
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
