import type { Manifest, Metric, Task } from "@lethe/core/message";
import type { Template } from "../planner/draft-jobs.ts";
import { type Path, type Range, rangeOf, withoutEntry, withValue } from "./json-text.ts";

const NUMBERS = ["tickSeconds", "ticks", "minimumDevices", "missing"] as const;

/** What the page reads in a task file, which may be wrong in any way. */
export interface Draft extends Readonly<Partial<Record<(typeof NUMBERS)[number], number>>> {
  readonly task?: string;
  readonly metrics: readonly DraftMetric[];
}

/** A metric of such a file. */
export interface DraftMetric {
  readonly name: string;
  /** The field that states its noise; `localEpsilon` if neither is there. */
  readonly noise: "localEpsilon" | "sigma";
  /** What that field states. */
  readonly noiseValue?: number;
}

/** Reads a task file as far as it goes. Undefined if it is not JSON with an object. */
export function readDraft(text: string): Draft | undefined {
  const found = parsed(text);
  if (!isObject(found)) return undefined;
  const { task } = found;
  return {
    ...(typeof task === "string" && { task }),
    ...Object.fromEntries(
      NUMBERS.map((field) => [field, found[field]]).filter(([, value]) => typeof value === "number"),
    ),
    metrics: Array.isArray(found.metrics) ? found.metrics.map(draftMetric) : [],
  };
}

function draftMetric(found: unknown, i: number): DraftMetric {
  const metric = isObject(found) ? found : {};
  const noise = metric.sigma === undefined ? "localEpsilon" : "sigma";
  const { [noise]: noiseValue } = metric;
  return {
    name: typeof metric.name === "string" ? metric.name : `metrics[${i}]`,
    noise,
    ...(typeof noiseValue === "number" && { noiseValue }),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(found: unknown): found is Readonly<Record<string, unknown>> {
  return typeof found === "object" && found !== null && !Array.isArray(found);
}

/** Behind which field of a task another one is written that was not there. */
const BEHIND: Readonly<Record<string, string>> = { missing: "minimumDevices", ticks: "tickSeconds" };

/** The file with another number in a field of the task, or in one of a metric. */
export function withNumber(text: string, path: Path, value: number): string {
  return withValue(text, path, String(value), BEHIND[String(path.at(-1))]);
}

/** The file with one more metric, whose name is changed if it is taken. */
export function withMetric(text: string, metric: Metric): string {
  const { metrics } = readDraft(text) ?? { metrics: [] };
  const isTaken = (name: string): boolean => metrics.some((each) => each.name === name);
  let { name } = metric;
  for (let i = 2; isTaken(name); i++) name = `${metric.name}-${i}`;
  return withValue(text, ["metrics", metrics.length], printed({ ...metric, name }, "    "));
}

/** The file without a metric. */
export function withoutMetric(text: string, metric: number): string {
  return withoutEntry(text, ["metrics", metric]);
}

/** What a new task says that its statistic does not decide. */
const FRAME = { graceSeconds: 86_400, minimumDevices: 1000 };

/** A task file with one metric. */
export function templateText({ metric, tickSeconds, ticks }: Template, mode: Task["mode"]): string {
  const { graceSeconds, minimumDevices } = FRAME;
  const task = { version: 1, task: "new-task", tickSeconds, ticks, graceSeconds, mode, minimumDevices };
  return `${printed({ ...task, metrics: [metric] })}\n`;
}

/** A task file with the next version of a task that a service has. */
export function nextVersionText({ fromWindow: _, servers: __, version, ...task }: Manifest): string {
  return `${printed({ version: version + 1, ...task })}\n`;
}

/** The longest line that a value is printed on, without what is before it. */
const LINE = 100;

/** JSON with short values on one line, and every item of a list of objects on its own. */
function printed(value: unknown, indent = ""): string {
  const line = inOneLine(value);
  const isList = Array.isArray(value);
  if (!isList && !isObject(value)) return line;
  const hasObjects = isList && value.some((each) => typeof each === "object");
  if (!hasObjects && line.length <= LINE && indent !== "") return line;
  const inner = `${indent}  `;
  const lines = isList
    ? value.map((each) => inner + printed(each, inner))
    : Object.entries(value).map(([key, each]) => `${inner}${JSON.stringify(key)}: ${printed(each, inner)}`);
  const [open, close] = isList ? "[]" : "{}";
  return `${open}\n${lines.join(",\n")}\n${indent}${close}`;
}

function inOneLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inOneLine).join(", ")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const entries = Object.entries(value).map(([key, each]) => `${JSON.stringify(key)}: ${inOneLine(each)}`);
  return entries.length === 0 ? "{}" : `{ ${entries.join(", ")} }`;
}

/**
 * Where in a file the problem is that core states: it begins with the path of a field, or says at which line and column
 * the text stops being JSON. Of a field that is missing, what it is missing in.
 */
export function rangeOfProblem(text: string, problem: string): Range | undefined {
  const [, line, column] = /^task is not JSON: .* at line (\d+), column (\d+)$/s.exec(problem) ?? [];
  if (line !== undefined && column !== undefined) {
    const before = text.split("\n").slice(0, Number(line) - 1);
    const from = before.reduce((sum, each) => sum + each.length + 1, 0) + Number(column) - 1;
    return { from, to: Math.min(from + 1, text.length) };
  }
  const [named = ""] = /^[A-Za-z]\w*(?:\.\w+|\[\d+\])*/.exec(problem) ?? [];
  const path = [...named.matchAll(/\w+/g)].map(([part]) => (/^\d+$/.test(part) ? Number(part) : part));
  for (let length = path.length; length > 0; length--) {
    const range = rangeOf(text, path.slice(0, length));
    if (range) return range;
  }
  return undefined;
}
