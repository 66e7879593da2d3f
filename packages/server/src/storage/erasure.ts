import type { Queryable } from "./database.ts";
import { inSlice, type Slice, slicesOf } from "./slices.ts";

/** The tables that hold what devices sent, by device. */
const DEVICE_TABLES = ["reports", "uncounted", "devices", "shared_reports"] as const;

/** A part of a window's rows that one statement deletes: those of one table whose device ids begin alike. */
export interface ErasedPart {
  readonly table: (typeof DEVICE_TABLES)[number];
  readonly slice: Slice;
}

/** The parts in which a window with this many devices is erased. A small window has one part per table. */
export function partsToErase(devices: number): ErasedPart[] {
  return DEVICE_TABLES.flatMap((table) => slicesOf(devices).map((slice) => ({ table, slice })));
}

/** Deletes a part. Uploads of other windows go on between two parts. */
export async function erasePart(database: Queryable, windowId: number, { table, slice }: ErasedPart): Promise<void> {
  const { condition, values } = inSlice(slice, 2);
  await database.query(`DELETE FROM ${table} WHERE window_id = $1 AND ${condition}`, [windowId, ...values]);
}

/** The last step: deletes spare keys and the tally, and notes that the window is erased. */
export async function finishErasure(database: Queryable, windowId: number): Promise<void> {
  const others = ["spare_keys", "tallies"];
  for (const table of others) await database.query(`DELETE FROM ${table} WHERE window_id = $1`, [windowId]);
  await database.query("UPDATE windows SET erased = true WHERE id = $1", [windowId]);
  // Deleted rows stay in the database's files until their space is reused.
  for (const table of [...DEVICE_TABLES, ...others]) await database.query(`VACUUM ${table}`);
}
