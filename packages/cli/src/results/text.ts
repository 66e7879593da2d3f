import { localDelta } from "@lethe/analyst";
import {
  type Figure,
  figuresOf,
  type Lost,
  quantilesOf,
  type Refused,
  type Release,
  type ReleasedMetric,
  type ReleaseOrWithheld,
  summaryOf,
  type Task,
  type WindowStatus,
  type Withheld,
} from "@lethe/core/message";
import { entryOf } from "@lethe/core/statistic";
import { type BarChart, renderBars } from "@lethe/lab/plot";
import { count, figure, formatFigure, formatTable } from "../print/table.ts";
import { utc, utcAndLocal } from "../print/time.ts";
import { describeTable } from "./cross-table.ts";
import { describeGroups } from "./groups.ts";

/** A release as tables and charts of at most `columns` characters, or why there is none. */
export function describeOutcome(outcome: ReleaseOrWithheld, columns: number, mode: Task["mode"]): string {
  return outcome.status === "released" ? describeRelease(outcome, columns, mode) : describeWithheld(outcome);
}

function describeRelease(release: Release, columns: number, mode: Task["mode"]): string {
  return [
    `${headOf(release)}, released ${utc(release.at)}`,
    "",
    ...(release.groups ? [`all groups that are released: ${count(release.devices ?? 0)} devices`] : []),
    formatTable(
      ["metric", "statistic", "estimate", "± s.e.", "95% interval", "consistent", "local ε₀", "aggregate ε"],
      release.metrics.flatMap(rowsOf),
      2,
    ),
    "",
    ...release.metrics.flatMap((metric) => describeTable(metric)),
    ...describeQuantiles(release),
    ...describeGroups(release, rowsOf),
    ...describeCost(release, mode),
    "",
    describeReports(release),
    `found invalid when opened: ${release.invalid.estimate} ± ${figure(release.invalid.standardError)}, with noise (ε ${figure(release.invalid.epsilon)})`,
    ...chartsOf(release).flatMap((chart) => ["", renderBars(chart, columns)]),
  ].join("\n");
}

function headOf({ task, version, window, from, to }: ReleaseOrWithheld): string {
  return `${task} version ${version}, window ${window}: ${utc(from)} to ${utc(to)} UTC`;
}

/**
 * The rows of a metric, one per figure: first what follows from the categories, if it says more than they do. The first
 * row has the guarantees of the metric.
 */
function rowsOf(metric: ReleasedMetric): string[][] {
  const { reached = [], curve = [], margins = [] } = summaryOf(metric);
  const isAverage = !("buckets" in metric);
  const rows = [
    ...reached.map((each) => rowOf(metric, `reached ${each.label}`, each.figure)),
    ...curve.map((each) => rowOf(metric, `in ${each.label}`, each.figure, percent)),
    ...figuresOf(metric).map(({ label, figure: each }) =>
      rowOf(metric, label === undefined ? "" : categoryName(metric, label), each, (value) =>
        formatFigure(value, metric.statistic, isAverage),
      ),
    ),
    ...margins.map((each) => rowOf(metric, each.label ?? "", each.figure)),
  ];
  return rows.map((row, i) => (i === 0 ? [...row, ...guaranteesOf(metric)] : row));
}

function rowOf(
  { name, statistic }: ReleasedMetric,
  what: string,
  { estimate, standardError, interval, consistent }: Figure,
  shown: (value: number) => string = (value) => formatFigure(value, statistic),
): string[] {
  return [
    what === "" ? name : `${name} ${what}`,
    statistic,
    shown(estimate),
    shown(standardError),
    `[${interval.map(shown).join(", ")}]`,
    shown(consistent),
  ];
}

/** A category in words: a funnel's are steps at which devices stopped. */
function categoryName({ statistic }: ReleasedMetric, label: string): string {
  return entryOf(statistic).words.category?.(label) ?? label;
}

/** A share of the devices. */
function percent(share: number): string {
  return `${(100 * share).toFixed(1).replace(/^-(0\.0)$/, "$1")}%`;
}

function guaranteesOf(metric: ReleasedMetric): string[] {
  const { localEpsilon, epsilon, delta } = metric;
  const at = ` (δ ${figure(delta)})`;
  return [figure(localEpsilon) + (localDelta(metric) > 0 ? at : ""), figure(epsilon) + at];
}

/** The buckets of quantiles, as a table with an empty line after it; nothing if there are none. */
function describeQuantiles({ metrics }: Release): string[] {
  const rows = metrics.flatMap((metric) =>
    quantilesOf(metric).map(({ q, bucket, low, high }) => [
      metric.name,
      String(q),
      bucket,
      low === high ? low : `${low} to ${high}`,
    ]),
  );
  if (rows.length === 0) return [];
  return [formatTable(["quantiles of devices", "q", "bucket", "95%, all of a metric at once"], rows, 4), ""];
}

function describeCost({ privacy, groups }: Release, mode: Task["mode"]): string[] {
  const { local, aggregate, hijackedEpsilon, honest } = privacy;
  const isOne = mode === "one-server";
  const where = groups ? " in its group" : "";
  const ifHonest = `if at least ${count(honest)} ${honest === 1 ? "report" : "reports"}${where} ${honest === 1 ? "is" : "are"} honest${isOne ? "" : ", and one of the servers"}`;
  const sum = local.sum === undefined || local.delta === 0 ? "" : `, or ${figure(local.sum)} with δ 0`;
  return [
    formatTable(
      ["a device pays for this window", "ε", "δ", ""],
      [
        [
          `to the ${isOne ? "server" : "servers"}: local`,
          figure(local.epsilon),
          figure(local.delta),
          `all metrics${sum}`,
        ],
        [
          "in releases: aggregate",
          figure(aggregate.epsilon),
          figure(aggregate.delta),
          `upper bound, invalid count included, ${ifHonest}`,
        ],
        [
          "in releases: hijacked report",
          hijackedEpsilon === null ? "none" : figure(hijackedEpsilon),
          figure(aggregate.delta),
          hijackedEpsilon === null
            ? "a state that an intruder captured and sent as a report is not hidden: minimumDevices is too small"
            : `of a state that an intruder captured and sent as a report, ${ifHonest}`,
        ],
      ],
      4,
    ),
  ];
}

function describeReports({ enrolled, received, refused }: ReleaseOrWithheld): string {
  return `${count(received)} of ${count(enrolled)} enrolled devices reported; refused requests: ${describeRefused(refused)}`;
}

function describeRefused(refused: Refused): string {
  const reasons = Object.entries(refused).map(([reason, requests]) => `${reason} ${count(requests)}`);
  return reasons.length === 0 ? "none" : reasons.join(", ");
}

function describeWithheld(withheld: Withheld | Lost): string {
  const groups = (withheld.status === "not-enough" && withheld.groups) || [];
  return [
    headOf(withheld),
    whyWithheld(withheld),
    describeReports(withheld),
    ...groups.map((group) => `${group.group}: ${count(group.received)} reports, ${count(group.missing)} more needed`),
  ].join("\n");
}

/** Why a window has no figures. */
export function whyWithheld(withheld: Withheld | Lost): string {
  return withheld.status === "lost"
    ? "lost: its secret is gone, and its reports cannot be opened"
    : `not enough, ${count(withheld.missing)} more${withheld.groups ? " in a group" : ""}: nothing is released, and the reports are erased`;
}

/** The charts that metrics of one statistic share come first; every other metric has its own chart. */
function chartsOf({ metrics }: Release): BarChart[] {
  const shared = new Map<string, Bar[]>();
  const own: BarChart[] = [];
  for (const metric of metrics) {
    const { words, averageWords = words } = entryOf(metric.statistic);
    const { isShared, title } = ("buckets" in metric ? words : averageWords).chart;
    const heading = title(metric.name);
    if (isShared) shared.set(heading, [...(shared.get(heading) ?? []), ...barsOf(metric)]);
    else own.push({ title: heading, bars: barsOf(metric) });
  }
  return [...[...shared].map(([title, bars]) => ({ title, bars })), ...own];
}

type Bar = BarChart["bars"][number];

/** A funnel is drawn as the steps that devices reached, a retention as its curve. */
function barsOf(metric: ReleasedMetric): Bar[] {
  const { reached, curve } = summaryOf(metric);
  return (reached ?? curve ?? figuresOf(metric)).map(({ label = metric.name, figure: { estimate, interval } }) => ({
    name: label,
    value: estimate,
    interval,
  }));
}

/** The state of a window that is not released yet, and how to wait for it. */
export function describePending(status: WindowStatus): string {
  const { task, window } = status;
  return `no release yet: ${describeState(status)}\nwait for it: npx lethe results ${task} --window ${window} --wait`;
}

/** The state of a window in one line. */
export function describeState(status: WindowStatus): string {
  const { task, window, state, from, to, closes, received, minimumDevices, groups } = status;
  const what = `window ${window} of ${task}`;
  const reports = `${count(received)} reports so far, at least ${count(minimumDevices)} needed${groups ? " in a group" : ""}`;
  if (state === "not-open") return `${what} begins ${utcAndLocal(from)}`;
  if (state === "open") return `${what} runs until ${utcAndLocal(to)}; ${reports}; it closes ${utcAndLocal(closes)}`;
  if (state === "grace")
    return `${what} is over and waits for late reports; ${reports}; it closes ${utcAndLocal(closes)}`;
  return `${what} is closed and being counted; ${reports}`;
}
