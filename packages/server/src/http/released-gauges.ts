import { type Figure, figuresOf, type Release, type ReleasedMetric, summaryOf } from "@lethe/core/message";
import { parseSignedShare, parseWindowShare } from "@lethe/core/two-server";
import { within } from "../async/within.ts";
import type { Queryable } from "../storage/database.ts";
import { findNewestOutcomes, findRelease } from "../storage/releases.ts";

/** Frequent scrapes cost the database little. */
const AGE_MS = 5000;
/** A task has at most this many series of estimates, and as many of standard errors. */
const MOST_FIGURES = 1000;

/** Every gauge of released figures, in the order in which they are written. */
const HELP = {
  lethe_released_estimate: "Figures of a task's newest window, if it was released",
  lethe_released_standard_error: "Their standard errors",
  lethe_released_omitted: "Figures of that window that are not here, because a task shows at most 1000",
  lethe_released_window: "The newest window whose outcome is published: released, not-enough, lost, or shared",
  lethe_released_end_seconds: "When that window ended, Unix time",
  lethe_released_devices: "How many reports the figures are made from",
  lethe_released_epsilon: "What a device pays for that window: local, aggregate, or hijacked",
} as const;

type Name = keyof typeof HELP;
type Lines = Readonly<Partial<Record<Name, string>>>;

/**
 * The newest outcome of every task as text for Prometheus. A window without figures ends the series of the window
 * before it: an old figure never passes for a new one. Lines are made once per release, because there may be thousands.
 * If the database does not answer, they stay as they were: a release never changes.
 */
export interface ReleasedGauges {
  /** Resolves within `milliseconds`. Reads the database at most every 5 s. */
  text(milliseconds: number): Promise<string>;
}

/** Gauges of the releases in this database. */
export function createReleasedGauges(database: Queryable, ageMilliseconds: number = AGE_MS): ReleasedGauges {
  let known = new Map<string, { readonly window: number; readonly lines: Lines }>();
  let lookedAt = Number.NEGATIVE_INFINITY;
  let looking: Promise<void> | undefined;
  let text = "";

  async function look(): Promise<void> {
    const found: typeof known = new Map();
    for (const { task, window } of await findNewestOutcomes(database)) {
      const before = known.get(task);
      const document = before?.window === window ? undefined : await findRelease(database, task, window);
      if (document !== undefined) found.set(task, { window, lines: linesOf(document) });
      else if (before) found.set(task, before);
    }
    known = found;
    text = textOf([...known.values()].map(({ lines }) => lines));
  }

  return {
    text: async (milliseconds) => {
      if (!looking && performance.now() - lookedAt > ageMilliseconds) {
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
    .map(
      (name) =>
        `# HELP ${name} ${HELP[name]}\n# TYPE ${name} gauge\n${tasks.map((lines) => lines[name] ?? "").join("")}`,
    )
    .join("");
}

type Outcome = Pick<Release, "task" | "window" | "to">;

/** The lines of a document. One of two servers publishes a share, which has no figures. */
function linesOf(document: string): Lines {
  const outcome = JSON.parse(document) as { readonly status: string };
  if (outcome.status === "shared") return outlineOf(parseWindowShare(parseSignedShare(document).document), "shared");
  if (outcome.status !== "released") return outlineOf(outcome as unknown as Outcome, outcome.status);
  const release = outcome as Release;
  const { task, received, devices = received, metrics, groups = [], privacy } = release;
  const all = [
    ...rowsOf(task, metrics, ""),
    ...groups.flatMap((group) => (group.status === "released" ? rowsOf(task, group.metrics, group.group) : [])),
  ];
  const figures = all.slice(0, MOST_FIGURES);
  const own = labelsOf({ task });
  const epsilon = (kind: string, value: number | null): string =>
    line("lethe_released_epsilon", labelsOf({ task, kind }), value ?? Number.POSITIVE_INFINITY);
  return {
    ...outlineOf(release, "released"),
    lethe_released_estimate: seriesOf("lethe_released_estimate", figures, ({ estimate }) => estimate),
    lethe_released_standard_error: seriesOf(
      "lethe_released_standard_error",
      figures,
      ({ standardError }) => standardError,
    ),
    lethe_released_omitted: line("lethe_released_omitted", own, all.length - figures.length),
    lethe_released_devices: line("lethe_released_devices", own, devices),
    lethe_released_epsilon: [
      epsilon("local", privacy.local.epsilon),
      epsilon("aggregate", privacy.aggregate.epsilon),
      epsilon("hijacked", privacy.hijackedEpsilon),
    ].join(""),
  };
}

/** What every outcome has. */
function outlineOf({ task, window, to }: Outcome, outcome: string): Lines {
  return {
    lethe_released_window: line("lethe_released_window", labelsOf({ task, outcome }), window),
    lethe_released_end_seconds: line("lethe_released_end_seconds", labelsOf({ task }), to),
  };
}

interface Row {
  readonly labels: string;
  readonly figure: Figure;
}

/** The figures of all metrics. Those about several categories have a statistic that says so, as in CSV. */
function rowsOf(task: string, metrics: readonly ReleasedMetric[], group: string): Row[] {
  return metrics.flatMap((metric) => {
    const row = (statistic: string, bucket: string, figure: Figure): Row => ({
      labels: labelsOf({ task, metric: metric.name, statistic, bucket, group }),
      figure,
    });
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
  return rows.map(({ labels, figure }) => line(name, labels, read(figure))).join("");
}

/** Prometheus writes infinity as +Inf. */
function line(name: Name, labels: string, value: number): string {
  return `${name}{${labels}} ${value === Number.POSITIVE_INFINITY ? "+Inf" : value}\n`;
}

function labelsOf(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${escaped(value)}"`)
    .join(",");
}

/** A label's value, as Prometheus writes it. */
function escaped(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
