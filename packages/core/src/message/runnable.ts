import { LetheError } from "../error.ts";
import { quote, readFields, requireObject, shorten, type UnknownField } from "../schema/index.ts";
import { requireAgainstCollusion } from "../statistic/collusion/names.ts";
import { statisticFor } from "../statistic/create.ts";
import { createTwoServerStatistic } from "../statistic/create-two-server.ts";
import { limitsEvents } from "../statistic/schemes.ts";
import type { Metric } from "../statistic/spec.ts";
import { entryOf } from "../statistic/table.ts";
import { parseJson } from "./json.ts";
import { resolved, schemeOf, statisticsOf, type Task } from "./task.ts";
import { TASK_FIELDS } from "./task-fields.ts";
import { twoServerStatisticsOf } from "./two-server-statistics.ts";

/**
 * The task in a text, with defaults filled in; it can run. Any other text is refused with a `bad-task` error of one
 * line that begins with the path of the field to blame, or with `task`.
 */
export function parseTask(text: string): Task {
  try {
    const task = readFields("", requireObject("task", parseJson("task", text)), "a task", TASK_FIELDS);
    requireOneScheme(task);
    return requireRunnable(resolved(task));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new LetheError("bad-task", error.message + hint(error.cause as UnknownField | undefined));
  }
}

/** The same task, if its fields, each of which is fine, go together; else a `RangeError` as for a single field. */
export function requireRunnable<T extends Task>(task: T): T {
  requireUniqueNames(task.metrics);
  requireGroups(task);
  requireOneScheme(task);
  requireCollusion(task);
  for (const [i, metric] of task.metrics.entries()) {
    if (task.mode === "one-server" && metric.noise !== undefined) {
      throw new RangeError(`metrics[${i}].noise is for mode two-server: one server adds no noise`);
    }
    prefixed(`metrics[${i}].`, () => checkMetric(metric, task));
  }
  requireRoom(task);
  return task;
}

/** What a task against an intruder with one server's keys cannot have. */
function requireCollusion({ mode, collusion = "none", metrics }: Task): void {
  if (collusion === "none") return;
  if (mode !== "two-server") throw new RangeError(`collusion ${collusion} is for mode two-server, not ${mode}`);
  for (const [i, { statistic, noise }] of metrics.entries()) {
    prefixed(`metrics[${i}].`, () => requireAgainstCollusion(statistic, noise));
  }
}

/** The rules that the statistics have for their own fields. */
function checkMetric(metric: Metric, task: Task): void {
  const isLimited = task.mode === "one-server" && limitsEvents(schemeOf(task, metric), metric.statistic);
  entryOf(metric.statistic).task.check(metric, { ticks: task.ticks, isLimited });
}

/** A scheme for all metrics, or one for each; of two servers always the same. */
function requireOneScheme({ mode, scheme, metrics }: Task): void {
  if (mode === "two-server" && scheme === "lattice") {
    throw new RangeError("scheme is elgamal with two servers, not lattice");
  }
  const expected = mode === "two-server" ? "elgamal" : scheme;
  for (const [i, metric] of metrics.entries()) {
    if (expected === undefined || metric.scheme === undefined || metric.scheme === expected) continue;
    const why = mode === "two-server" ? "with two servers" : "as the task's scheme is: leave one of them out";
    throw new RangeError(`metrics[${i}].scheme is ${expected} ${why}, not ${metric.scheme}`);
  }
}

function requireUniqueNames(metrics: readonly Metric[]): void {
  const places = new Map<string, number>();
  for (const [i, { name }] of metrics.entries()) {
    const first = places.get(name);
    if (first !== undefined) {
      throw new RangeError(`metrics[${i}].name is unique, but metrics[${first}] is named ${quote(name)} too`);
    }
    places.set(name, i);
  }
}

/** A release compares every pair of groups in every metric. */
const MOST_COMPARISONS = 10_000;

function requireGroups({ groups = [], metrics }: Task): void {
  const twice = groups.findIndex((group, i) => groups.indexOf(group) < i);
  if (twice >= 0) throw new RangeError(`groups[${twice}] is unique, but ${quote(groups[twice])} is there twice`);
  const pairs = (groups.length * (groups.length - 1)) / 2;
  if (pairs * metrics.length > MOST_COMPARISONS) {
    throw new RangeError(
      `groups are too many: each metric is compared for each of ${pairs} pairs of groups, at most ${MOST_COMPARISONS} times in all, not ${pairs * metrics.length}`,
    );
  }
}

/** Metrics that are fine by themselves can still ask for more than a ciphertext holds. */
function requireRoom(task: Task): void {
  const places = new Map(task.metrics.map(({ name }, i) => [name, i]));
  const requireFor = (metrics: readonly string[], check: () => unknown): void => {
    const [first = "", ...others] = metrics;
    const more = others.length > 0 ? ` and ${others.length} more` : "";
    prefixed(`metrics[${places.get(first)}] (${first})${more}: `, check);
  };
  if (task.mode === "two-server") {
    for (const { spec, metrics } of twoServerStatisticsOf(task)) {
      requireFor(metrics, () => createTwoServerStatistic(spec));
    }
    return;
  }
  for (const { scheme, spec, metrics } of statisticsOf(task)) requireFor(metrics, () => statisticFor(scheme, spec));
}

/** Says where the fault lies that a check of core found; the value that it quotes last may be a long list. */
function prefixed(prefix: string, check: () => unknown): void {
  try {
    check();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new RangeError(prefix + error.message.replace(/, not (.*)$/s, (_, value) => `, not ${shorten(value)}`));
  }
}

/** The known name that a misspelt one may stand for. */
function hint(unknown: UnknownField | undefined): string {
  if (unknown === undefined) return "";
  const { field, known } = unknown;
  // Of two servers a metric can have another noise, and with it other fields.
  if (field === "sigma" && known.includes("localEpsilon")) return `: it is with "noise":"servers", of two servers`;
  const [near] = [1, 2].flatMap((edits) => known.filter((name) => isNear(field, name, edits)));
  return near === undefined ? "" : `; did you mean ${near}?`;
}

/** Whether `edits` insertions, deletions and replacements of characters can turn one into the other. */
function isNear(a: string, b: string, edits: number): boolean {
  let same = 0;
  while (same < a.length && a[same] === b[same]) same++;
  const [restA, restB] = [a.slice(same), b.slice(same)];
  if (Math.max(restA.length, restB.length) <= edits) return true;
  if (edits === 0) return false;
  const [nextA, nextB] = [restA.slice(1), restB.slice(1)];
  return isNear(nextA, restB, edits - 1) || isNear(restA, nextB, edits - 1) || isNear(nextA, nextB, edits - 1);
}
