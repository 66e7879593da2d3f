import {
  type Figure,
  figuresOf,
  type GroupDifference,
  quantilesOf,
  type Release,
  type ReleasedMetric,
} from "@lethe/core/message";
import { iso } from "../print/time.ts";
import { differencesOf } from "./groups.ts";
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
  "quantiles",
  "quantiles_low",
  "quantiles_high",
  "group",
  "minus",
  "p_value",
];

/**
 * A release in CSV (RFC 4180), one row per figure; the header alone if there is no release. In the row of a bucket are
 * the quantiles that are estimated to be in it, and those whose intervals begin and end with it. The rows of groups
 * come after those of all devices, and then those of differences, which are per device: `group` minus `minus`.
 */
export function toCsv(release: Release | undefined): string {
  return [HEADER, ...(release ? rowsOf(release) : [])]
    .map((row) => `${row.map((cell) => quoted(String(cell))).join(",")}\r\n`)
    .join("");
}

type Row = readonly (string | number)[];

function rowsOf(release: Release): Row[] {
  const { received, devices = received, metrics, groups = [], differences = [] } = release;
  return [
    ...figureRows(release, devices, metrics, ""),
    ...groups.flatMap((group) =>
      group.status === "released" ? figureRows(release, group.received, group.metrics, group.group) : [],
    ),
    ...differences.flatMap((difference) => differenceRows(release, difference)),
  ];
}

function figureRows(release: Release, received: number, metrics: Release["metrics"], group: string): Row[] {
  const { task, version, window, from, to } = release;
  return metrics.flatMap((metric) => {
    const { name, statistic, localEpsilon, epsilon, delta } = metric;
    const row = (bucket: string, { estimate, standardError, interval, consistent }: Figure): Row => [
      ...[task, version, window, iso(from), iso(to), received, name, statistic, bucket],
      ...[estimate, standardError, ...interval, consistent],
      ...[localEpsilon, localDelta(metric), epsilon, delta],
      ...(["bucket", "low", "high"] as const).map((end) => quantilesAt(metric, end, bucket)),
      ...[group, "", ""],
    ];
    return figuresOf(metric).map(({ label = "", figure }) => row(label, figure));
  });
}

function differenceRows(release: Release, { group, minus, metrics }: GroupDifference): Row[] {
  const { task, version, window, from, to } = release;
  return metrics.flatMap((metric) =>
    differencesOf(metric).map(({ label = "", estimate, standardError, interval, pValue }) => [
      ...[task, version, window, iso(from), iso(to), "", metric.name, metric.statistic, label],
      ...[estimate, standardError, ...interval, "", "", "", "", "", "", "", ""],
      ...[group, minus, pValue],
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

function quoted(cell: string): string {
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
