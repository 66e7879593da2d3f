import type { Queryable } from "./database.ts";

/** What the admin asks of a process without keys, for one with keys to do. */
export interface TaskRequest {
  readonly id: Uint8Array;
  /** JSON. */
  readonly request: string;
  /** Shows that the request comes from the admin, and not from somebody who can only write to the database. */
  readonly mac: Uint8Array;
}

/** Leaves a request for a process with keys. */
export async function addTaskRequest(database: Queryable, { id, request, mac }: TaskRequest): Promise<void> {
  await database.query("INSERT INTO task_requests (id, request, mac) VALUES ($1, $2, $3)", [id, request, mac]);
}

/** JSON; undefined if there is none yet. */
export async function findTaskAnswer(database: Queryable, id: Uint8Array): Promise<string | undefined> {
  const [row] = await database.query<{ answer: string | null }>("SELECT answer FROM task_requests WHERE id = $1", [id]);
  return row?.answer ?? undefined;
}

/** Removes a request that nobody waits for any more. */
export async function removeTaskRequest(database: Queryable, id: Uint8Array): Promise<void> {
  await database.query("DELETE FROM task_requests WHERE id = $1", [id]);
}

/** One that nobody is answering; those that nobody waits for any more are dropped. */
export async function takeTaskRequest(database: Queryable, seconds: number): Promise<TaskRequest | undefined> {
  await database.query("DELETE FROM task_requests WHERE made_at < clock_timestamp() - make_interval(secs => $1)", [
    60 * seconds,
  ]);
  const [row] = await database.query<TaskRequest>(
    `WITH free AS MATERIALIZED (
       SELECT id FROM task_requests
       WHERE answer IS NULL AND (taken_until IS NULL OR taken_until < clock_timestamp())
       LIMIT 1 FOR UPDATE SKIP LOCKED)
     UPDATE task_requests SET taken_until = clock_timestamp() + make_interval(secs => $1)
     FROM free WHERE task_requests.id = free.id RETURNING task_requests.id, request, mac`,
    [seconds],
  );
  return row;
}

/** Stores the answer to a request. */
export async function answerTaskRequest(database: Queryable, id: Uint8Array, answer: string): Promise<void> {
  await database.query("UPDATE task_requests SET answer = $2 WHERE id = $1", [id, answer]);
}
