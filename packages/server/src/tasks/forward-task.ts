import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { LetheError, type LetheErrorCode } from "@lethe/core/error";
import { parseTask, type Task } from "@lethe/core/message";
import { type Database, Unavailable } from "../storage/database.ts";
import { findOperator } from "../storage/operator.ts";
import {
  addTaskRequest,
  answerTaskRequest,
  findTaskAnswer,
  removeTaskRequest,
  type TaskRequest,
  takeTaskRequest,
} from "../storage/task-requests.ts";
import type { TaskRegistry, TaskVersion } from "../storage/tasks.ts";
import type { CreatedTask } from "./create-task.ts";

/** A request to create a task, as a process without keys leaves it in the database. */
interface Request {
  /** JSON. */
  readonly task: string;
  /** Where devices reach the process that was asked, if the operator has said so; and where it listens. */
  readonly url: string | null;
  readonly listens: string;
  /** When it was asked, Unix seconds, and of which operator, so that nobody can replay it later or elsewhere. */
  readonly at: number;
  readonly operatorKey: string;
}

type Answer =
  | { readonly version: number; readonly isNew: boolean }
  | { readonly code: LetheErrorCode; readonly detail: string };

const PATIENCE_MS = 30_000;
const POLL_MS = 100;
/** How long other processes leave a request to the one that took it. */
const TAKEN_SECONDS = 10;
/** How old a request may be: the time that it waits, plus the difference of two clocks. */
const MOST_AGE_SECONDS = 90;

function macOf(adminToken: string, id: Uint8Array, request: string): Buffer {
  const text = JSON.stringify(["lethe create task", Buffer.from(id).toString("hex"), request]);
  return createHmac("sha256", adminToken).update(text).digest();
}

/** In a process without keys: leaves the task for a tally to sign, and waits for the answer. */
export async function forwardTask(
  { database, tasks, now }: { readonly database: Database; readonly tasks: TaskRegistry; readonly now: () => number },
  adminToken: string,
  address: Pick<Request, "url" | "listens">,
  task: Task,
): Promise<CreatedTask> {
  const id = randomBytes(16);
  const request = JSON.stringify({
    ...address,
    task: JSON.stringify(task),
    at: now(),
    operatorKey: (await findOperator(database)) ?? "",
  } satisfies Request);
  await addTaskRequest(database, { id, request, mac: macOf(adminToken, id, request) });
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

async function read(tasks: TaskRegistry, { task }: Task, found: string | undefined): Promise<CreatedTask> {
  if (found === undefined) throw new Unavailable("no tally has answered: start one, and try again");
  const answer = JSON.parse(found) as Answer;
  if ("code" in answer) throw new LetheError(answer.code, answer.detail);
  await tasks.refresh();
  const version = tasks.versions(task).find(({ manifest }) => manifest.version === answer.version);
  return { version: version as TaskVersion, isNew: answer.isNew };
}

/** What a process needs to answer. */
interface AnsweringParts {
  readonly database: Database;
  readonly now: () => number;
  readonly adminToken: string;
  readonly operatorKey: string;
  /** `url` is where devices reach the service, as far as the process that was asked knows. */
  readonly createTask: (task: Task, address: Pick<Request, "url" | "listens">) => Promise<CreatedTask>;
}

/** In a process with keys: creates the tasks that were asked for elsewhere, if the admin asked for them. */
export async function answerRequests(parts: AnsweringParts): Promise<void> {
  for (;;) {
    const request = await takeTaskRequest(parts.database, TAKEN_SECONDS);
    if (!request) return;
    await answerTaskRequest(parts.database, request.id, JSON.stringify(await answerTo(request, parts)));
  }
}

async function answerTo(
  { id, request: text, mac }: TaskRequest,
  { now, adminToken, operatorKey, createTask }: AnsweringParts,
): Promise<Answer> {
  const expected = macOf(adminToken, id, text);
  if (mac.length !== expected.length || !timingSafeEqual(mac, expected)) {
    return { code: "unauthorized", detail: "the tally has another admin token: give all processes the same" };
  }
  const request = JSON.parse(text) as Request;
  if (request.operatorKey !== operatorKey || Math.abs(now() - request.at) > MOST_AGE_SECONDS) {
    return { code: "unauthorized", detail: "this request is for another operator, or too old: are the clocks right?" };
  }
  try {
    const { version, isNew } = await createTask(parseTask(request.task), request);
    return { version: version.manifest.version, isNew };
  } catch (error) {
    if (error instanceof LetheError) return { code: error.code, detail: error.message };
    throw error;
  }
}
