import type { Queryable } from "./database.ts";

/**
 * A shard of a window's tally as it is stored: the number of reports in it, and the rest, sealed under a key that
 * derives from the window's secret.
 */
export interface StoredTally {
  readonly counted: number;
  readonly sealed: Uint8Array;
}

/** The shard that every window begins with. */
export const FIRST_SHARD = 0;

/** Stores a new shard. */
export async function addTally(
  transaction: Queryable,
  windowId: number,
  shard: number,
  { counted, sealed }: StoredTally,
): Promise<void> {
  await transaction.query("INSERT INTO tallies (window_id, shard, counted, sealed) VALUES ($1, $2, $3, $4)", [
    windowId,
    shard,
    counted,
    sealed,
  ]);
}

/** Undefined if there is no such shard, or the window is erased. */
export async function lockTally(
  transaction: Queryable,
  windowId: number,
  shard: number,
): Promise<StoredTally | undefined> {
  const [row] = await transaction.query<StoredTally>(
    "SELECT counted, sealed FROM tallies WHERE window_id = $1 AND shard = $2 FOR UPDATE",
    [windowId, shard],
  );
  return row;
}

/** Replaces a shard that this transaction has locked. */
export async function saveTally(
  transaction: Queryable,
  windowId: number,
  shard: number,
  { counted, sealed }: StoredTally,
): Promise<void> {
  await transaction.query("UPDATE tallies SET counted = $3, sealed = $4 WHERE window_id = $1 AND shard = $2", [
    windowId,
    shard,
    counted,
    sealed,
  ]);
}

/** All shards of a window's tally, as they were at one moment; none if the window is erased. */
export function readTallies(database: Queryable, windowId: number): Promise<StoredTally[]> {
  return database.query<StoredTally>("SELECT counted, sealed FROM tallies WHERE window_id = $1 ORDER BY shard", [
    windowId,
  ]);
}

/** How many reports are in a window's tally; undefined if the window is erased. */
export async function countedIn(database: Queryable, windowId: number): Promise<number | undefined> {
  const [row] = await database.query<{ counted: number | null }>(
    "SELECT sum(counted)::bigint AS counted FROM tallies WHERE window_id = $1",
    [windowId],
  );
  return row?.counted ?? undefined;
}
