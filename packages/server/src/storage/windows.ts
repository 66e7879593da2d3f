import { LetheError } from "@lethe/core/error";
import type { Refused } from "@lethe/core/message";
import type { Database, Queryable, SqlValue } from "./database.ts";
import { ENROLLED, RECEIVED, takeShards } from "./window-shards.ts";

/** A window, as it is stored. */
export interface WindowRow {
  readonly id: number;
  readonly taskId: number;
  readonly name: string;
  readonly number: number;
  readonly state: "collecting" | "closed" | WindowOutcome;
  readonly commitment: Uint8Array;
  /** At a leader: a commitment to the helper's secret, once the helper has made keys for this window. */
  readonly helperCommitment: Uint8Array | null;
  /** The ids of the databases, besides the first, that have a part of it, separated by spaces. */
  readonly others: string;
  readonly enrolled: number;
  readonly received: number;
}

const COLUMNS = `id, task_id AS "taskId", name, number, state, secret_commitment AS commitment,
  helper_commitment AS "helperCommitment", others, ${ENROLLED} AS enrolled, ${RECEIVED} AS received`;

/** The window with this number, if it was made. */
export async function findWindow(database: Queryable, name: string, number: number): Promise<WindowRow | undefined> {
  const [row] = await database.query<WindowRow>(`SELECT ${COLUMNS} FROM windows WHERE name = $1 AND number = $2`, [
    name,
    number,
  ]);
  return row;
}

/** The window with this id, which exists. */
export async function readWindow(database: Queryable, id: number): Promise<WindowRow> {
  const [row] = await database.query<WindowRow>(`SELECT ${COLUMNS} FROM windows WHERE id = $1`, [id]);
  if (!row) throw new TypeError(`there is no window ${id}`);
  return row;
}

/** Whether the window still has, or will have, reports to open. */
export function isUnreleased({ state }: WindowRow): boolean {
  return state === "collecting" || state === "closed";
}

/** Stores a new window, and returns its id. */
export async function addWindow(
  transaction: Queryable,
  {
    taskId,
    name,
    number,
    commitment,
    others = "",
  }: Pick<WindowRow, "taskId" | "name" | "number" | "commitment"> & Partial<Pick<WindowRow, "others">>,
): Promise<number> {
  const [row] = await transaction.query<{ id: number }>(
    "INSERT INTO windows (task_id, name, number, secret_commitment, others) VALUES ($1, $2, $3, $4, $5) RETURNING id",
    [taskId, name, number, commitment, others],
  );
  return (row as { id: number }).id;
}

/**
 * Stores the part of a window that a database besides the first has, under the same id, unless it is there. Throws if
 * another window is there instead.
 */
export async function addPart(first: Database, database: Database, window: WindowRow): Promise<void> {
  const { id, taskId, name, number, commitment, others } = window;
  const found = await findWindow(database, name, number);
  if (found) return requireSame(window, found);
  // A standby of the first database that takes over may not have the window: it would make another one.
  await first.persist();
  requireSame(window, await findWindow(first, name, number));
  await database.query(
    `INSERT INTO windows (id, task_id, name, number, secret_commitment, others) OVERRIDING SYSTEM VALUE
     VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING`,
    [id, taskId, name, number, commitment, others],
  );
  requireSame(window, await findWindow(database, name, number));
}

type Named = Pick<WindowRow, "id" | "name" | "number" | "commitment">;

/** Throws unless a window in one database is the same in another. */
export function requireSame({ id, name, number, commitment }: Named, other: Named | undefined): void {
  if (other?.id === id && Buffer.compare(other.commitment, commitment) === 0) return;
  throw new LetheError(
    "bad-database",
    `a database has another window instead of window ${number} of ${name}: was one restored from a backup?`,
  );
}

/** The first number beyond all windows that were made. */
export async function nextUnusedWindow(database: Queryable, name: string): Promise<number> {
  const [row] = await database.query<{ next: number | null }>(
    "SELECT max(number) + 1 AS next FROM windows WHERE name = $1",
    [name],
  );
  return row?.next ?? 0;
}

/** The part of a window that never changes. */
export type WindowIdentity = Pick<WindowRow, "id" | "name" | "number" | "commitment" | "others">;

const MOST_REMEMBERED = 1000;

/** Finds windows for uploads, and asks the database only the first time. */
export function createWindowFinder(
  database: Queryable,
): (name: string, number: number) => Promise<WindowIdentity | undefined> {
  const known = new Map<string, WindowIdentity>();
  return async (name, number) => {
    const key = `${name} ${number}`;
    const remembered = known.get(key);
    if (remembered) return remembered;
    const found = await findWindow(database, name, number);
    if (!found) return undefined;
    if (known.size >= MOST_REMEMBERED) known.clear();
    known.set(key, found);
    return found;
  };
}

/** The windows that are not erased yet, oldest first. */
export function unfinishedWindows(database: Queryable): Promise<WindowRow[]> {
  return database.query<WindowRow>(`SELECT ${COLUMNS} FROM windows WHERE NOT erased ORDER BY id`);
}

/** A window with what was refused in it. */
export interface WatchedWindow extends WindowRow {
  readonly refused: Refused;
}

const REFUSED = `(SELECT coalesce(json_object_agg(reason, requests ORDER BY reason), '{}')::text
  FROM (SELECT reason, sum(requests) AS requests FROM refusals WHERE window_id = windows.id GROUP BY reason) AS summed
  ) AS refused`;

/** The windows of all tasks that are not erased yet, with their refusals. */
export function watchUnfinished(database: Queryable): Promise<WatchedWindow[]> {
  return watch(database, "NOT erased ORDER BY id", []);
}

/** The windows of a task with the highest numbers, newest first, with their refusals. */
export function watchNewest(database: Queryable, name: string, count: number): Promise<WatchedWindow[]> {
  return watch(database, "name = $1 ORDER BY number DESC LIMIT $2", [name, count]);
}

async function watch(database: Queryable, which: string, values: readonly SqlValue[]): Promise<WatchedWindow[]> {
  const sql = `SELECT ${COLUMNS}, ${REFUSED} FROM windows WHERE ${which}`;
  const rows = await database.query<WindowRow & { refused: string }>(sql, values);
  return rows.map((row) => ({ ...row, refused: JSON.parse(row.refused) as Refused }));
}

/**
 * Locks a window: until the transaction ends nobody else closes or ends it. An open window goes on counting in its
 * shards.
 */
export async function lockWindow(transaction: Queryable, id: number): Promise<WindowRow> {
  await transaction.query("SELECT id FROM windows WHERE id = $1 FOR UPDATE", [id]);
  // In a second statement: one that waited for the lock would see shards of before.
  return readWindow(transaction, id);
}

/** Stores the helper's commitment unless there is one, and returns the stored one: the first one counts. */
export async function noteHelperCommitment(
  database: Queryable,
  id: number,
  commitment: Uint8Array,
): Promise<Uint8Array | undefined> {
  const [row] = await database.query<{ noted: Uint8Array }>(
    `UPDATE windows SET helper_commitment = coalesce(helper_commitment, $2) WHERE id = $1
     RETURNING helper_commitment AS noted`,
    [id, commitment],
  );
  return row?.noted;
}

/**
 * Closes a window: it waits for what is being counted, and nothing is counted afterwards. Returns whether this call did:
 * a window closes once.
 */
export function closeWindow(database: Database, id: number): Promise<boolean> {
  return database.transaction((transaction) => closeInTransaction(transaction, id));
}

/** The same as a part of a transaction. */
export async function closeInTransaction(transaction: Queryable, id: number): Promise<boolean> {
  const { state } = await lockWindow(transaction, id);
  if (state !== "collecting") return false;
  const { enrolled, received } = await takeShards(transaction, id);
  await transaction.query(
    "UPDATE windows SET state = 'closed', enrolled = enrolled + $2, received = received + $3 WHERE id = $1",
    [id, enrolled, received],
  );
  return true;
}

/** How a window can end. `lost` means that nobody can ever open its reports. */
export type WindowOutcome = "released" | "not-enough" | "lost";

/**
 * Notes how a window ended, and what it counted in all its databases, in the transaction that stores what is published
 * about it.
 */
export async function endWindow(
  transaction: Queryable,
  { id, enrolled, received }: Pick<WindowRow, "id" | "enrolled" | "received">,
  outcome: WindowOutcome,
): Promise<void> {
  await transaction.query("UPDATE windows SET state = $2, enrolled = $3, received = $4 WHERE id = $1", [
    id,
    outcome,
    enrolled,
    received,
  ]);
}

/**
 * Whether the caller may erase the window's rows for this many seconds: nobody else is erasing them, or the process
 * that was has not renewed its claim.
 */
export async function claimErasure(
  database: Queryable,
  id: number,
  eraser: Uint8Array,
  seconds: number,
): Promise<boolean> {
  const rows = await database.query(
    `UPDATE windows SET erasing_by = $2, erasing_until = clock_timestamp() + make_interval(secs => $3)
     WHERE id = $1 AND NOT erased AND (erasing_by = $2 OR erasing_until IS NULL OR erasing_until < clock_timestamp())
     RETURNING id`,
    [id, eraser, seconds],
  );
  return rows.length > 0;
}

/** How many requests of a window were refused, by reason. */
export async function refusalsOf(database: Queryable, windowId: number): Promise<Refused> {
  const rows = await database.query<{ reason: string; requests: number }>(
    `SELECT reason, sum(requests)::bigint AS requests FROM refusals WHERE window_id = $1
     GROUP BY reason ORDER BY reason`,
    [windowId],
  );
  return Object.fromEntries(rows.map(({ reason, requests }) => [reason, requests]));
}

/** Adds to the count of refusals of a window, if it is still collecting. */
export async function addRefusals(
  database: Queryable,
  shard: number,
  refusal: { readonly name: string; readonly number: number; readonly reason: string; readonly requests: number },
): Promise<void> {
  await database.query(
    `INSERT INTO refusals (window_id, reason, shard, requests)
     SELECT id, $3, $5, $4 FROM windows WHERE name = $1 AND number = $2 AND state = 'collecting'
     ON CONFLICT (window_id, reason, shard) DO UPDATE SET requests = refusals.requests + excluded.requests`,
    [refusal.name, refusal.number, refusal.reason, refusal.requests, shard],
  );
}
