import type { Queryable } from "./database.ts";

/**
 * A window's tally as it is stored: the number of reports in it, and the rest, sealed under a key that derives from the
 * window's secret.
 */
export interface StoredTally {
  readonly counted: number;
  readonly sealed: Uint8Array;
}

/** Stores the first, empty tally of a window. */
export async function addTally(transaction: Queryable, windowId: number, sealed: Uint8Array): Promise<void> {
  await transaction.query("INSERT INTO tallies (window_id, counted, sealed) VALUES ($1, 0, $2)", [windowId, sealed]);
}

/** Undefined if the window is erased. */
export async function lockTally(transaction: Queryable, windowId: number): Promise<StoredTally | undefined> {
  const [row] = await transaction.query<StoredTally>(
    "SELECT counted, sealed FROM tallies WHERE window_id = $1 FOR UPDATE",
    [windowId],
  );
  return row;
}

/** Replaces a tally that this transaction has locked. */
export async function saveTally(
  transaction: Queryable,
  windowId: number,
  { counted, sealed }: StoredTally,
): Promise<void> {
  await transaction.query("UPDATE tallies SET counted = $2, sealed = $3 WHERE window_id = $1", [
    windowId,
    counted,
    sealed,
  ]);
}

/** How many reports are in a window's tally; undefined if the window is erased. */
export async function countedIn(database: Queryable, windowId: number): Promise<number | undefined> {
  const [row] = await database.query<{ counted: number }>("SELECT counted FROM tallies WHERE window_id = $1", [
    windowId,
  ]);
  return row?.counted;
}
