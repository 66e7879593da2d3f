import { LetheError } from "@lethe/core/error";
import { resolved, type Task } from "@lethe/core/message";
import { findAgreement } from "../storage/agreements.ts";
import type { Queryable } from "../storage/database.ts";
import { type TaskRegistry, taskOf } from "../storage/tasks.ts";
import { asRun } from "../tasks/development.ts";

const textOf = (task: Task): string => JSON.stringify(resolved(task));

/** Throws unless a task says exactly what the operator of this helper has agreed to, as this helper runs it. */
export function requireAgreed(agreement: Task, task: Task, isDevelopment: boolean): void {
  const agreed = asRun(agreement, isDevelopment);
  if (textOf(agreed) === textOf(task)) return;
  throw new LetheError(
    "task-differs",
    `the helper has agreed to a version ${task.version} of ${task.task} that says something else: ` +
      differenceOf(agreed, task) +
      (isOnlyDevelopment(agreement, task, isDevelopment) ? ": one of you runs with --dev" : ""),
  );
}

/** Whether the only difference is that one server runs with --dev and the other does not. */
function isOnlyDevelopment(agreement: Task, task: Task, isDevelopment: boolean): boolean {
  return textOf(asRun(agreement, true)) === textOf(asRun(task, isDevelopment));
}

const MOST_SHOWN = 60;

/** The first field in which two tasks differ, with both values. */
function differenceOf(agreed: unknown, proposed: unknown, path = ""): string {
  if (isStructure(agreed) && isStructure(proposed)) {
    const fields = [...new Set([...Object.keys(agreed), ...Object.keys(proposed)])];
    const field = fields.find((name) => JSON.stringify(agreed[name]) !== JSON.stringify(proposed[name]));
    const place = Array.isArray(agreed) ? `${path}[${field}]` : `${path && `${path}.`}${field}`;
    if (field !== undefined) return differenceOf(agreed[field], proposed[field], place);
  }
  const shown = (value: unknown): string => (JSON.stringify(value) ?? "missing").slice(0, MOST_SHOWN);
  return `${path} is ${shown(agreed)} at the helper and ${shown(proposed)} at the leader`;
}

function isStructure(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

/**
 * Throws if a task was made with --dev, in which a handful of devices are enough for a release: it must not go on in
 * production.
 */
export async function requireNoDevelopmentTask(database: Queryable, tasks: TaskRegistry): Promise<void> {
  for (const { manifest } of tasks.names().flatMap(tasks.versions)) {
    const task = taskOf(manifest);
    const agreement = await findAgreement(database, task.task, task.version);
    if (!agreement || textOf(agreement) === textOf(task)) continue;
    throw new LetheError(
      "task-differs",
      `version ${task.version} of ${task.task} was made with --dev, and is not what was agreed to: start this helper with ` +
        "--dev, or on a new database",
    );
  }
}
