import { LetheError } from "../error.ts";
import { requireEpsilon } from "../privacy/probability.ts";
import { createStatistic, type SchemeName, type StatisticSpec } from "../statistic/create.ts";
import { checkHistogram, type HistogramMechanismName, requireHistogramEpsilon } from "../statistic/histogram.ts";
import { checkMean } from "../statistic/mean.ts";
import { MOST_TICKS, requireWhole } from "../statistic/statistic.ts";

/** What an operator asks a fleet of devices, as written in a task file. */
export interface Task {
  readonly version: number;
  /** Its name. */
  readonly task: string;
  readonly tickSeconds: number;
  /** Ticks of a window. */
  readonly ticks: number;
  /** For how long after a window its reports are accepted. */
  readonly graceSeconds: number;
  readonly mode: "one-server";
  readonly scheme: SchemeName;
  /** A window with fewer reports is not released. */
  readonly minimumDevices: number;
  readonly metrics: readonly Metric[];
}

export type Metric = OccurrenceMetric | HistogramMetric | MeanMetric;

export interface OccurrenceMetric {
  readonly name: string;
  readonly statistic: "occurrence";
  readonly localEpsilon: number;
}

export interface HistogramMetric {
  readonly name: string;
  readonly statistic: "histogram";
  readonly edges: readonly number[];
  readonly localEpsilon: number;
  readonly eventsPerTick: number;
  readonly mechanism?: HistogramMechanismName;
}

export interface MeanMetric {
  readonly name: string;
  readonly statistic: "mean";
  readonly limit: number;
  readonly sigma: number;
  readonly eventsPerTick: number;
}

/** A statistic of a task, and the names of its metrics in the order of its answers. */
export interface TaskStatistic {
  readonly spec: StatisticSpec;
  readonly metrics: readonly string[];
}

/**
 * The task in a text, with defaults filled in; it can run. Any other text is refused with a `bad-task` error of one
 * line that begins with the path of the field to blame, or with `task`.
 */
export function parseTask(text: string): Task {
  try {
    const task = readTask("", parseJson(text));
    requireUniqueNames(task.metrics);
    for (const [i, metric] of task.metrics.entries()) {
      prefixed(`metrics[${i}].`, () => checkMetric(metric, task.ticks));
    }
    requireRunnable(task);
    return task;
  } catch (error) {
    if (error instanceof RangeError) throw new LetheError("bad-task", error.message);
    throw error;
  }
}

/**
 * The statistics that a device runs for a task: all occurrence metrics share one, and with it a ciphertext; then each
 * other metric has its own, in the task's order.
 */
export function statisticsOf({ ticks, metrics }: Task): readonly TaskStatistic[] {
  const occurrences = metrics.filter((metric) => metric.statistic === "occurrence");
  const ledger: TaskStatistic = {
    spec: { statistic: "occurrence", ticks, localEpsilons: occurrences.map(({ localEpsilon }) => localEpsilon) },
    metrics: occurrences.map(({ name }) => name),
  };
  const others = metrics
    .filter((metric) => metric.statistic !== "occurrence")
    .map(({ name, ...spec }) => ({ spec: { ...spec, ticks }, metrics: [name] }));
  return occurrences.length > 0 ? [ledger, ...others] : others;
}

/** The rules that the statistics have for their own fields. */
function checkMetric(metric: Metric, ticks: number): void {
  if (metric.statistic === "histogram") checkHistogram({ ...metric, ticks });
  if (metric.statistic === "mean") checkMean({ ...metric, ticks });
  if (metric.statistic === "occurrence") requireEpsilon(metric.localEpsilon);
  if (metric.statistic === "histogram") requireHistogramEpsilon(metric.localEpsilon, metric.mechanism);
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

/** Fields that are fine one by one can still ask for more than a ciphertext holds. */
function requireRunnable(task: Task): void {
  const places = new Map(task.metrics.map(({ name }, i) => [name, i]));
  // Choosing lattice parameters takes tens of milliseconds, and many metrics may ask the same.
  const runnable = new Set<string>();
  for (const { spec, metrics } of statisticsOf(task)) {
    const key = JSON.stringify(spec);
    if (runnable.has(key)) continue;
    const [first = "", ...others] = metrics;
    const more = others.length > 0 ? ` and ${others.length} more` : "";
    prefixed(`metrics[${places.get(first)}] (${first})${more}: `, () => createStatistic(task.scheme, spec));
    runnable.add(key);
  }
}

/** Says where the fault lies that a check of core found; the value that it quotes last may be a long list. */
function prefixed(prefix: string, check: () => void): void {
  try {
    check();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new RangeError(prefix + error.message.replace(/, not (.*)$/s, (_, value) => `, not ${shorten(value)}`));
  }
}

/** Reads what is at a path, `undefined` if nothing is. What does not belong there is a `RangeError` for `parseTask`. */
type Read<T> = (path: string, value: unknown) => T;
type Fields<T> = { readonly [Name in keyof T]-?: Read<T[Name]> };
type JsonObject = Readonly<Record<string, unknown>>;

const DAY = 86_400;

const name: Read<string> = (path, value) => {
  if (typeof value === "string" && /^[a-z][a-z0-9.-]{0,63}$/.test(value)) return value;
  return refuse(path, "is a letter a-z and up to 63 more of a-z, 0-9, . and -", value);
};

const number: Read<number> = (path, value) => (typeof value === "number" ? value : refuse(path, "is a number", value));

const OCCURRENCE: Fields<OccurrenceMetric> = {
  name,
  statistic: oneOf("occurrence"),
  localEpsilon: number,
};

const HISTOGRAM: Fields<HistogramMetric> = {
  name,
  statistic: oneOf("histogram"),
  edges: list("numbers", number, 0, Number.POSITIVE_INFINITY),
  localEpsilon: number,
  eventsPerTick: optional(number, 1),
  mechanism: optional(oneOf("kary", "unary", "per-bucket"), undefined),
};

const MEAN: Fields<MeanMetric> = {
  name,
  statistic: oneOf("mean"),
  limit: number,
  sigma: number,
  eventsPerTick: optional(number, 1),
};

const readMetric: Read<Metric> = (path, value) => {
  const found = requireObject(path, value);
  // Only the statistic tells which fields there are, so its own name is looked at first.
  if (found.statistic === undefined) refuseUnknown(path, found, "a metric", { ...OCCURRENCE, ...HISTOGRAM, ...MEAN });
  const statistic = oneOf("occurrence", "histogram", "mean")(`${path}.statistic`, found.statistic);
  if (statistic === "occurrence") return readFields(path, found, "an occurrence metric", OCCURRENCE);
  if (statistic === "histogram") return readFields(path, found, "a histogram metric", HISTOGRAM);
  return readFields(path, found, "a mean metric", MEAN);
};

const mode: Read<"one-server"> = (path, value) => {
  if (value === "two-server") throw new RangeError(`${path} is one-server; two-server is not supported yet`);
  return oneOf("one-server")(path, value);
};

const TASK: Fields<Task> = {
  version: whole(1, Number.MAX_SAFE_INTEGER),
  task: name,
  tickSeconds: whole(1, 31 * DAY),
  ticks: whole(1, MOST_TICKS),
  graceSeconds: whole(0, 366 * DAY),
  mode,
  scheme: oneOf("lattice", "elgamal"),
  minimumDevices: whole(1, 1e9),
  metrics: list("metrics", readMetric, 1, 10_000),
};

const readTask: Read<Task> = (path, value) => readFields(path, requireObject("task", value), "a task", TASK);

function whole(least: number, most: number): Read<number> {
  return (path, value) => {
    const found = number(path, value);
    requireWhole(path, found, least, most);
    return found;
  };
}

function oneOf<Name extends string>(...names: readonly Name[]): Read<Name> {
  return (path, value) =>
    names.find((known) => known === value) ??
    refuse(path, `is ${names.length > 1 ? "one of " : ""}${names.join(", ")}`, value);
}

function optional<T>(read: Read<T>, otherwise: T): Read<T> {
  return (path, value) => (value === undefined ? otherwise : read(path, value));
}

function list<T>(what: string, read: Read<T>, least: number, most: number): Read<readonly T[]> {
  const must = `is a list of ${Number.isFinite(most) ? `${least} to ${most} ` : ""}${what}`;
  return (path, value) => {
    if (!Array.isArray(value)) return refuse(path, must, value);
    if (value.length < least || value.length > most) throw new RangeError(`${path} ${must}, not of ${value.length}`);
    return value.map((entry: unknown, i) => read(`${path}[${i}]`, entry));
  };
}

function requireObject(path: string, value: unknown): JsonObject {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject ? (value as JsonObject) : refuse(path, "is an object", value);
}

function readFields<T>(path: string, found: JsonObject, what: string, fields: Fields<T>): T {
  refuseUnknown(path, found, what, fields);
  const entries = Object.entries<Read<unknown>>(fields)
    .map(([field, read]) => [field, read(within(path, field), found[field])] as const)
    .filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as T;
}

function refuseUnknown(path: string, found: JsonObject, what: string, fields: object): void {
  const unknown = Object.keys(found).find((field) => !Object.hasOwn(fields, field));
  if (unknown === undefined) return;
  const near = [1, 2].flatMap((edits) => Object.keys(fields).filter((known) => isNear(unknown, known, edits)));
  const hint = near[0] === undefined ? "" : `; did you mean ${near[0]}?`;
  throw new RangeError(`${within(path, unknown)} is not a field of ${what}${hint}`);
}

/** Whether so many insertions, deletions and replacements of characters can turn one into the other. */
function isNear(a: string, b: string, edits: number): boolean {
  let same = 0;
  while (same < a.length && a[same] === b[same]) same++;
  const [restA, restB] = [a.slice(same), b.slice(same)];
  if (Math.max(restA.length, restB.length) <= edits) return true;
  if (edits === 0) return false;
  const [nextA, nextB] = [restA.slice(1), restB.slice(1)];
  return isNear(nextA, restB, edits - 1) || isNear(restA, nextB, edits - 1) || isNear(nextA, nextB, edits - 1);
}

function within(path: string, field: string): string {
  if (!/^\w{1,60}$/.test(field)) return `${path}[${quote(field)}]`;
  return path === "" ? field : `${path}.${field}`;
}

function refuse(path: string, must: string, value: unknown): never {
  throw new RangeError(value === undefined ? `${path} is missing` : `${path} ${must}, not ${quote(value)}`);
}

const MOST_QUOTED = 60;

/** A received value for a line of text: short, and without characters that a terminal would obey. */
function quote(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object" && value !== null) return "an object";
  if (typeof value !== "string") return String(value);
  const escaped = JSON.stringify(value.slice(0, MOST_QUOTED)).replace(
    /[\p{C}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
  return shorten(escaped);
}

function shorten(text: string): string {
  // A cut must not halve a character of two code units.
  return text.length > MOST_QUOTED ? `${text.slice(0, MOST_QUOTED - 1).replace(/\p{Cs}$/u, "")}…` : text;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Engines word this differently, and most do not say where.
    const position = jsonMistake(text);
    const lines = text.slice(0, position).split("\n");
    const place = `line ${lines.length}, column ${(lines.at(-1) as string).length + 1}`;
    const [unexpected] = /^(?:[^\s,:[\]{}]+|.|$)/su.exec(text.slice(position, position + MOST_QUOTED + 1)) ?? [""];
    const what = unexpected === "" ? `it ends too early, at ${place}` : `unexpected ${quote(unexpected)} at ${place}`;
    throw new RangeError(`task is not JSON: ${what}`);
  }
}

const JSON_SPACE = /[ \t\n\r]*/y;
const JSON_MARK = /[{}[\],:]/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON strings have none
const JSON_STRING = /"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[\da-fA-F]{4})[^"\\\x00-\x1f]*)*"/y;
const JSON_WORD = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

/** The start of the first token that is malformed or out of place, or the text's length if it lacks its end. */
function jsonMistake(text: string): number {
  let position = 0;
  const skip = (pattern: RegExp): boolean => {
    pattern.lastIndex = position;
    const found = pattern.test(text);
    if (found) position = pattern.lastIndex;
    return found;
  };
  // What may come next, a character each: "s" is a string, "w" a number or word.
  const value = "{[sw";
  const closers: string[] = [];
  let allowed = value;
  for (;;) {
    skip(JSON_SPACE);
    const start = position;
    const kind = skip(JSON_STRING) ? "s" : skip(JSON_WORD) ? "w" : skip(JSON_MARK) ? text.charAt(start) : "";
    if (kind === "" || !allowed.includes(kind)) return start;
    if (kind === "{") {
      closers.push("}");
      allowed = "s}";
    } else if (kind === "[") {
      closers.push("]");
      allowed = `${value}]`;
    } else if (kind === ":") {
      allowed = value;
    } else if (kind === ",") {
      allowed = closers.at(-1) === "}" ? "s" : value;
    } else if (kind === "s" && !allowed.includes("w")) {
      allowed = ":";
    } else {
      if (kind === closers.at(-1)) closers.pop();
      allowed = closers.length > 0 ? `,${closers.at(-1)}` : "";
    }
  }
}
