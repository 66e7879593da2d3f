import { closeSync, openSync, readSync } from "node:fs";
import { LetheError } from "@lethe/core/error";
import { type Metric, parseTask, type Task } from "@lethe/core/message";
import type { Command } from "commander";
import { formatTable } from "./table.ts";

export function addTask(program: Command): void {
  const task = program.command("task").description("task files: what a fleet of devices is asked");
  task
    .command("check")
    .description("say whether a task file is right, and if not, which field is wrong")
    .argument("<file>", "the task file, JSON")
    .option("--json", "print JSON only")
    .action(check);
}

function check(path: string, { json }: { json?: boolean }): void {
  try {
    const task = readTask(path);
    console.log(json ? JSON.stringify({ valid: true, task }) : describe(task));
  } catch (error) {
    if (json && error instanceof LetheError) console.log(JSON.stringify({ valid: false, error: error.message }));
    throw error;
  }
}

/** The task in a file; whatever is wrong with either is a `bad-task` error that begins with the file's path. */
export function readTask(path: string): Task {
  try {
    return parseTask(readText(path));
  } catch (error) {
    if (error instanceof LetheError) throw new LetheError(error.code, `${path}: ${error.message}`);
    throw error;
  }
}

const MOST_BYTES = 1_000_000;

function readText(path: string): string {
  const bytes = readBytes(path);
  if (bytes.length > MOST_BYTES) throw new LetheError("bad-task", "a task file has at most 1 MB");
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new LetheError("bad-task", "a task file is text in UTF-8");
  }
}

/** One byte more than allowed at most: a device or pipe does not say its size, and may never end. */
function readBytes(path: string): Uint8Array {
  const bytes = new Uint8Array(MOST_BYTES + 1);
  let length = 0;
  try {
    const file = openSync(path, "r");
    try {
      for (let read = 1; read > 0 && length < bytes.length; length += read) {
        read = readSync(file, bytes, { offset: length });
      }
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw new LetheError("bad-task", whyUnreadable(error as NodeJS.ErrnoException));
  }
  return bytes.subarray(0, length);
}

function whyUnreadable({ code }: NodeJS.ErrnoException): string {
  if (code === "ENOENT") return "there is no such file";
  if (code === "EISDIR") return "this is a directory, not a file";
  if (code === "EACCES" || code === "EPERM") return "this file may not be read";
  return `this file cannot be read (${code})`;
}

function describe(task: Task): string {
  const { version, tickSeconds, ticks, graceSeconds, mode, scheme, minimumDevices, metrics } = task;
  const grace = graceSeconds > 0 ? `for ${inWords(graceSeconds)} after it` : "until it ends";
  return [
    `${task.task}, version ${version}: a good task`,
    `window of ${inWords(ticks * tickSeconds)}: ${ticks} ticks of ${inWords(tickSeconds)}; reports are accepted ${grace}`,
    `${mode}, ${scheme}; released if at least ${minimumDevices} devices report`,
    "",
    formatTable(
      ["metric", "statistic", "noise"],
      metrics.map((metric) => [metric.name, metric.statistic, noiseOf(metric)]),
      3,
    ),
  ].join("\n");
}

function noiseOf(metric: Metric): string {
  return metric.statistic === "mean" ? `sigma ${metric.sigma}` : `local ε ${metric.localEpsilon}`;
}

/** 93600 is "1 day 2 hours". */
function inWords(seconds: number): string {
  const counts = {
    day: Math.floor(seconds / 86_400),
    hour: Math.floor(seconds / 3600) % 24,
    minute: Math.floor(seconds / 60) % 60,
    second: seconds % 60,
  };
  return Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([unit, count]) => `${count} ${unit}${count > 1 ? "s" : ""}`)
    .join(" ");
}
