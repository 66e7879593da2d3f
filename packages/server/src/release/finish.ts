import type { Database, Queryable } from "../storage/database.ts";
import { addRelease } from "../storage/releases.ts";
import { lockTally } from "../storage/tallies.ts";
import type { TaskVersion } from "../storage/tasks.ts";
import { lockWindow, readWindow, refusalsOf, type WindowRow } from "../storage/windows.ts";
import type { KeyFile } from "../tally/key-file.ts";
import type { Threads } from "../tally/threads.ts";
import { makeRelease, withhold } from "./release.ts";

/**
 * Makes the release of a closed window, in one transaction and once. Undefined while reports are still to be counted, or if
 * another process has made it.
 */
export async function releaseWindow(
  database: Database,
  threads: Threads,
  task: TaskVersion,
  id: number,
  at: number,
): Promise<"released" | "not-enough" | undefined> {
  const { state, received } = await readWindow(database, id);
  if (state !== "closed") return undefined;
  // Takes seconds for many metrics: before anything is locked. After the window closed nothing more is received.
  const enough = received >= task.manifest.minimumDevices;
  const cost = enough ? await threads.run("price", task.signed.manifest, received) : undefined;
  return database.transaction(async (transaction) => {
    const window = await lockWindow(transaction, id);
    if (window.state !== "closed") return undefined;
    const tally = await lockTally(transaction, id);
    const closed = { task, window, refused: await refusalsOf(transaction, id), at };
    const withheld = withhold(closed);
    if (!withheld && (tally.counted !== window.received || !cost)) return undefined;
    const release = withheld ?? makeRelease(closed, tally, cost as NonNullable<typeof cost>);
    await addRelease(transaction, release);
    await transaction.query("UPDATE windows SET state = $2 WHERE id = $1", [id, release.status]);
    return release.status;
  });
}

/** Destroys the window's secret, then everything that devices sent and what was read from it: states of this window can never be opened again. */
export async function eraseWindow(
  database: Database,
  keyFile: KeyFile,
  { id, name, number }: WindowRow,
): Promise<void> {
  keyFile.destroyWindow(name, number);
  await database.transaction(async (transaction) => {
    await eraseRows(transaction, id);
    await transaction.query("UPDATE windows SET erased = true WHERE id = $1", [id]);
  });
  // Rows that were deleted stay in the files until their space is used again.
  for (const table of ERASED) await database.query(`VACUUM ${table}`);
}

const ERASED = ["reports", "devices", "addresses", "tallies"] as const;

async function eraseRows(transaction: Queryable, windowId: number): Promise<void> {
  for (const table of ERASED) await transaction.query(`DELETE FROM ${table} WHERE window_id = $1`, [windowId]);
}
