import { LetheError } from "@lethe/core/error";
import type { Manifest, Task, WindowStatus } from "@lethe/core/message";
import { readManifest } from "./manifest.ts";
import { ask, askJson, type Request } from "./request.ts";
import { taskPath } from "./service.ts";

/** One task of a service, in the list that its admin sees. */
export interface TaskSummary {
  readonly task: string;
  readonly windowSeconds: number;
  /** The number of the running window. */
  readonly window: number;
  readonly versions: readonly { readonly version: number; readonly fromWindow: number; readonly metrics: number }[];
}

/** All tasks of a service. */
export interface TaskList {
  readonly tasks: readonly TaskSummary[];
  /** At a helper: the tasks that its operator agreed to and its leader has not created yet. */
  readonly agreed?: readonly { readonly task: string; readonly version: number }[];
}

/** The answer to a request to create a task. */
export interface CreatedTask {
  /** False if the service had the very same task already. */
  readonly isNew: boolean;
  readonly manifest: Manifest;
}

/** Has a service collect a task, or a higher version of one. */
export async function createTask(server: string, token: string, task: Task): Promise<CreatedTask> {
  const { status, body } = await ask(server, "/v1/tasks", { method: "POST", token, body: JSON.stringify(task) });
  return { isNew: status === 201, manifest: readManifest(body) };
}

/** Lists all tasks of a service. */
export function listTasks(server: string, token: string): Promise<TaskList> {
  return askJson(server, "/v1/tasks", { token });
}

/** Closes a window before its time, and returns its new state. */
export function closeWindow(server: string, token: string, task: string, window: number): Promise<WindowStatus> {
  return askJson(server, `${taskPath(task)}/windows/${window}/close`, { method: "POST", token });
}

/**
 * Has a helper agree to a task, and returns the terms that it agreed to. Rejects with `bad-role` at any other service.
 */
export async function agreeToTask(server: string, token: string, task: Task): Promise<Task> {
  const { terms } = await askHelper<{ terms: Task }>(server, "/v1/agreements", { token, body: JSON.stringify(task) });
  return terms;
}

/**
 * Withdraws a helper's agreement, unless its leader has created the task. Rejects with `bad-role` at any other service.
 */
export async function withdrawAgreement(
  server: string,
  token: string,
  { task, version }: Pick<Task, "task" | "version">,
): Promise<void> {
  await askHelper(server, `/v1/agreements/${task}/${version}/withdraw`, { token });
}

/** Only helpers have these paths. */
async function askHelper<T>(server: string, path: string, request: Request): Promise<T> {
  try {
    return await askJson<T>(server, path, { method: "POST", ...request });
  } catch (error) {
    if (!(error instanceof LetheError) || error.code !== "bad-role") throw error;
    throw new LetheError("bad-role", `the service at ${server} is not a helper: only a helper agrees to tasks`, {
      cause: error,
    });
  }
}
