import type { Database, Queryable } from "../storage/database.ts";
import { countEnrolled } from "../storage/devices.ts";
import { readTallies, type StoredTally } from "../storage/tallies.ts";
import type { TaskVersion } from "../storage/tasks.ts";
import { findWindow, type WindowRow } from "../storage/windows.ts";

/**
 * What a database has of a closed window. Counts never change any more; once every report is counted, neither do the
 * shards: the part is final until it is erased, which nobody does before the window has ended in the first database.
 */
export interface ClosedPart extends Pick<WindowRow, "enrolled" | "received"> {
  /** The shards of the tally; undefined while reports are still to be counted. */
  readonly shards: readonly StoredTally[] | undefined;
  /** How many devices of each group are enrolled, once the part is final. */
  readonly enrolledByGroup: readonly number[];
}

/**
 * Whether the part of a window in a database is closed, and stays so if a standby takes over: one that lacks the closing
 * would go on taking reports. Read the part after this.
 */
export async function isClosedForGood(
  database: Database,
  { name, number }: Pick<WindowRow, "name" | "number">,
): Promise<boolean> {
  const window = await findWindow(database, name, number);
  if (!window || window.state === "collecting") return false;
  await database.persist();
  return true;
}

/** Reads the part of a window in one database; undefined while it is open. */
export async function readPart(
  database: Queryable,
  { manifest: { groups = [] } }: TaskVersion,
  { id, name, number }: Pick<WindowRow, "id" | "name" | "number">,
): Promise<ClosedPart | undefined> {
  const window = await findWindow(database, name, number);
  if (!window || window.state === "collecting") return undefined;
  const { enrolled, received } = window;
  const shards = await readTallies(database, id);
  if (shards.reduce((sum, { counted }) => sum + counted, 0) !== received) {
    return { enrolled, received, shards: undefined, enrolledByGroup: [] };
  }
  const enrolledByGroup = groups.length > 0 ? await countEnrolled(database, id, groups.length, enrolled) : [];
  return { enrolled, received, shards, enrolledByGroup };
}
