import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { LetheError, type LetheErrorCode } from "@lethe/core/error";
import { parseTask, type Task } from "@lethe/core/message";
import { type Database, Unavailable } from "../storage/database.ts";
import {
  addTaskRequest,
  answerTaskRequest,
  findTaskAnswer,
  removeTaskRequest,
  type TaskRequest,
  takeTaskRequest,
} from "../storage/task-requests.ts";
import type { TaskRegistry, TaskVersion } from "../storage/tasks.ts";

/** What became of a task that was asked for. */
interface Created {
  readonly version: TaskVersion;
  readonly isNew: boolean;
}

type Answer =
  | { readonly version: number; readonly isNew: boolean }
  | { readonly code: LetheErrorCode; readonly detail: string };

const PATIENCE_MS = 30_000;
const POLL_MS = 100;
/** How long another tally leaves a request to one that took it. */
const TAKEN_SECONDS = 60;

function macOf(adminToken: string, { id, task, url }: Omit<TaskRequest, "mac">): Buffer {
  const text = JSON.stringify(["lethe create task", Buffer.from(id).toString("hex"), task, url]);
  return createHmac("sha256", adminToken).update(text).digest();
}

/** For a process without keys: leaves the task for a tally to sign, and waits for it. */
export async function forwardTask(
  database: Database,
  tasks: TaskRegistry,
  adminToken: string,
  url: string,
  task: Task,
): Promise<Created> {
  const request = { id: randomBytes(16), task: JSON.stringify(task), url };
  const { id } = request;
  await addTaskRequest(database, { ...request, mac: macOf(adminToken, request) });
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const found = await findTaskAnswer(database, id);
    if (found !== undefined || performance.now() > deadline) {
      await removeTaskRequest(database, id);
      return read(tasks, task, found);
    }
    await sleep(POLL_MS);
  }
}

async function read(tasks: TaskRegistry, { task }: Task, found: string | undefined): Promise<Created> {
  if (found === undefined) throw new Unavailable("no tally has answered: start one, and try again");
  const answer = JSON.parse(found) as Answer;
  if ("code" in answer) throw new LetheError(answer.code, answer.detail);
  await tasks.refresh();
  const version = tasks.versions(task).find(({ manifest }) => manifest.version === answer.version);
  return { version: version as TaskVersion, isNew: answer.isNew };
}

/** For a tally: makes the tasks that were asked for elsewhere, if it was the admin who asked. */
export async function answerRequests(
  database: Database,
  adminToken: string,
  createTask: (task: Task, url: string) => Promise<Created>,
): Promise<void> {
  for (;;) {
    const request = await takeTaskRequest(database, TAKEN_SECONDS);
    if (!request) return;
    await answerTaskRequest(database, request.id, JSON.stringify(await answerTo(request, adminToken, createTask)));
  }
}

async function answerTo(
  request: TaskRequest,
  adminToken: string,
  createTask: (task: Task, url: string) => Promise<Created>,
): Promise<Answer> {
  const { task, url, mac } = request;
  const expected = macOf(adminToken, request);
  if (mac.length !== expected.length || !timingSafeEqual(mac, expected)) {
    return { code: "unauthorized", detail: "the tally has another admin token: give all processes the same" };
  }
  try {
    const { version, isNew } = await createTask(parseTask(task), url);
    return { version: version.manifest.version, isNew };
  } catch (error) {
    if (error instanceof LetheError) return { code: error.code, detail: error.message };
    throw error;
  }
}
