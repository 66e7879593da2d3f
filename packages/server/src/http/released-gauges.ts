import { type Figure, figuresOf, type Release, type ReleasedMetric, summaryOf } from "@lethe/core/message";
import { within } from "../async/within.ts";
import type { Queryable } from "../storage/database.ts";
import { findNewestReleases, findRelease } from "../storage/releases.ts";

/** Frequent scrapes cost the database little. */
const AGE_MS = 5000;

/** Every gauge of released figures, in the order in which they are written. */
const HELP = {
  lethe_released_estimate: "Figures of the newest release",
  lethe_released_standard_error: "Their standard errors",
  lethe_released_window: "The window of the newest release",
  lethe_released_end_seconds: "When that window ended, Unix time",
  lethe_released_devices: "How many reports the figures are made from",
  lethe_released_epsilon:
    "What a device pays for that window: to the server, in the release, or if its state was captured",
} as const;

type Name = keyof typeof HELP;
type Lines = Readonly<Record<Name, string>>;

/**
 * The newest figures of every task as text for Prometheus. Their lines are made once per release, because there may be
 * thousands. If the database does not answer, the figures stay as they were: a release never changes.
 */
export interface ReleasedGauges {
  /** Resolves within `milliseconds`. Reads the database at most every 5 s. */
  text(milliseconds: number): Promise<string>;
}

/** Gauges of the releases in this database. */
export function createReleasedGauges(database: Queryable): ReleasedGauges {
  const known = new Map<string, { readonly window: number; readonly lines: Lines | undefined }>();
  let lookedAt = Number.NEGATIVE_INFINITY;
  let looking: Promise<void> | undefined;
  let text = "";

  async function look(): Promise<void> {
    const newest = await findNewestReleases(database);
    const changed = newest.filter(({ task, window }) => known.get(task)?.window !== window);
    if (changed.length === 0) return;
    for (const { task, window } of changed) {
      const document = await findRelease(database, task, window);
      known.set(task, { window, lines: document === undefined ? undefined : linesOf(document) });
    }
    text = textOf([...known.values()].flatMap(({ lines }) => lines ?? []));
  }

  return {
    text: async (milliseconds) => {
      if (!looking && performance.now() - lookedAt > AGE_MS) {
        lookedAt = performance.now();
        looking = look().finally(() => {
          looking = undefined;
        });
      }
      if (looking) await within(milliseconds, looking).catch(() => undefined);
      return text;
    },
  };
}

function textOf(tasks: readonly Lines[]): string {
  if (tasks.length === 0) return "";
  const names = Object.keys(HELP) as Name[];
  return names
    .map((name) => `# HELP ${name} ${HELP[name]}\n# TYPE ${name} gauge\n${tasks.map((lines) => lines[name]).join("")}`)
    .join("");
}

/** The lines of a release; undefined for the share of one of two servers, which has no figures. */
function linesOf(document: string): Lines | undefined {
  const release = JSON.parse(document) as Release;
  if (release.status !== "released") return undefined;
  const { task, window, to, received, devices = received, metrics, groups = [], privacy } = release;
  const figures = [
    ...rowsOf(task, metrics, ""),
    ...groups.flatMap((group) => (group.status === "released" ? rowsOf(task, group.metrics, group.group) : [])),
  ];
  const own = (name: Name, value: number): string => `${name}{task="${escaped(task)}"} ${value}\n`;
  const epsilon = (kind: string, value: number | null): string =>
    `lethe_released_epsilon{task="${escaped(task)}",kind="${kind}"} ${value ?? "+Inf"}\n`;
  return {
    lethe_released_estimate: seriesOf("lethe_released_estimate", figures, ({ estimate }) => estimate),
    lethe_released_standard_error: seriesOf(
      "lethe_released_standard_error",
      figures,
      ({ standardError }) => standardError,
    ),
    lethe_released_window: own("lethe_released_window", window),
    lethe_released_end_seconds: own("lethe_released_end_seconds", to),
    lethe_released_devices: own("lethe_released_devices", devices),
    lethe_released_epsilon: [
      epsilon("local", privacy.local.epsilon),
      epsilon("aggregate", privacy.aggregate.epsilon),
      epsilon("hijacked", privacy.hijackedEpsilon),
    ].join(""),
  };
}

interface Row {
  readonly labels: string;
  readonly figure: Figure;
}

/** The figures of all metrics. Those about several categories have a statistic that says so, as in CSV. */
function rowsOf(task: string, metrics: readonly ReleasedMetric[], group: string): Row[] {
  return metrics.flatMap((metric) => {
    const row = (statistic: string, bucket: string, figure: Figure): Row => {
      const labels = Object.entries({ task, metric: metric.name, statistic, bucket, group });
      return { labels: labels.map(([name, value]) => `${name}="${escaped(value)}"`).join(","), figure };
    };
    const { statistic } = metric;
    return [
      ...figuresOf(metric).map(({ label = "", figure }) => row(statistic, label, figure)),
      ...Object.entries(summaryOf(metric)).flatMap(([field, figures]) =>
        figures.map(({ label = "", figure }) => row(`${statistic}.${field}`, label, figure)),
      ),
    ];
  });
}

function seriesOf(name: Name, rows: readonly Row[], read: (figure: Figure) => number): string {
  return rows.map(({ labels, figure }) => `${name}{${labels}} ${read(figure)}\n`).join("");
}

/** A label's value, as Prometheus writes it. */
function escaped(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
