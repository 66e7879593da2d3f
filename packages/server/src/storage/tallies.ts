import type { Queryable } from "./database.ts";

/** A window's tally as it is stored: how many reports are in it, and the rest under a key that dies with the window's secret. */
export interface StoredTally {
  readonly counted: number;
  readonly sealed: Uint8Array;
}

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
