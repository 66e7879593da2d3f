import type { Queryable } from "./database.ts";

/** Everything that was read from a window's reports so far. */
export interface Tally {
  /** Reports. */
  readonly counted: number;
  /** Answers, added up: one list a statistic. */
  readonly sums: readonly (readonly number[])[];
  /** Invalid reports, to which noise was added before the first of them: the exact number is nowhere. */
  readonly invalid: number;
}

/** Begins a tally at zero, with the noise in `invalid` drawn before; one that is there stays as it is. */
export async function beginTally(database: Queryable, windowId: number, noise: number): Promise<void> {
  await database.query(
    "INSERT INTO tallies (window_id, counted, sums, invalid) VALUES ($1, 0, '[]', $2) ON CONFLICT DO NOTHING",
    [windowId, noise],
  );
}

export async function lockTally(transaction: Queryable, windowId: number): Promise<Tally> {
  const [row] = await transaction.query<{ counted: number; sums: string; invalid: number }>(
    "SELECT counted, sums, invalid FROM tallies WHERE window_id = $1 FOR UPDATE",
    [windowId],
  );
  if (!row) throw new TypeError(`window ${windowId} has no tally`);
  return { ...row, sums: JSON.parse(row.sums) as number[][] };
}

export async function saveTally(transaction: Queryable, windowId: number, tally: Tally): Promise<void> {
  await transaction.query("UPDATE tallies SET counted = $2, sums = $3, invalid = $4 WHERE window_id = $1", [
    windowId,
    tally.counted,
    JSON.stringify(tally.sums),
    tally.invalid,
  ]);
}
