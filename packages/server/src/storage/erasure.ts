import type { Queryable } from "./database.ts";

/** The tables that hold what devices sent, by device. */
const DEVICE_TABLES = ["reports", "uncounted", "devices", "shared_reports"] as const;

/** A part of a window's rows that one statement deletes: those of one table whose device ids begin alike. */
export interface ErasedPart {
  readonly table: (typeof DEVICE_TABLES)[number];
  readonly slice: number;
  readonly slices: number;
}

const MOST_AT_ONCE = 10_000;
const MOST_SLICES = 256;

/** The parts in which a window with this many devices is erased. A small window has one part per table. */
export function partsToErase(devices: number): ErasedPart[] {
  const slices = devices > MOST_AT_ONCE ? MOST_SLICES : 1;
  return DEVICE_TABLES.flatMap((table) => Array.from({ length: slices }, (_, slice) => ({ table, slice, slices })));
}

/** Deletes a part, chosen by the first byte of the device's id. Uploads of other windows go on between two parts. */
export async function erasePart(
  database: Queryable,
  windowId: number,
  { table, slice, slices }: ErasedPart,
): Promise<void> {
  const isLast = slice === slices - 1;
  await database.query(`DELETE FROM ${table} WHERE device >= $1 AND ($2::boolean OR device < $3) AND window_id = $4`, [
    Uint8Array.of(slice),
    isLast,
    Uint8Array.of(isLast ? slice : slice + 1),
    windowId,
  ]);
}

/** The last step: deletes spare keys and the tally, and notes that the window is erased. */
export async function finishErasure(database: Queryable, windowId: number): Promise<void> {
  const others = ["spare_keys", "tallies"];
  for (const table of others) await database.query(`DELETE FROM ${table} WHERE window_id = $1`, [windowId]);
  await database.query("UPDATE windows SET erased = true WHERE id = $1", [windowId]);
  // Deleted rows stay in the database's files until their space is reused.
  for (const table of [...DEVICE_TABLES, ...others]) await database.query(`VACUUM ${table}`);
}
