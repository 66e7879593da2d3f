import { randomBytes } from "node:crypto";
import type { Database, Queryable } from "../storage/database.ts";
import { lockKeyFile } from "../storage/locks.ts";
import { addRelease } from "../storage/releases.ts";
import { lockTally } from "../storage/tallies.ts";
import type { TaskVersion } from "../storage/tasks.ts";
import {
  claimErasure,
  isUnreleased,
  lockWindow,
  markErased,
  readWindow,
  refusalsOf,
  type WindowRow,
} from "../storage/windows.ts";
import type { CountingParts } from "../tally/counting.ts";
import type { KeyFile } from "../tally/key-file.ts";
import { openTally, type Tally } from "../tally/sealed-tally.ts";
import type { Threads } from "../tally/threads.ts";
import { secretOf } from "../tally/windows.ts";
import { makeRelease, outcomeOf, withhold } from "./release.ts";

/**
 * Makes the release of a closed window, in one transaction and once. Undefined while reports are still to be counted, or if
 * another process has made it.
 */
export async function releaseWindow(
  database: Database,
  threads: Threads,
  keyFile: KeyFile,
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
    const closed = { task, window, refused: await refusalsOf(transaction, id), at };
    const opened = cost && (await openCounted(transaction, keyFile, window));
    const release = withhold(closed) ?? (cost && opened && makeRelease(closed, opened, cost));
    if (!release) return undefined;
    await addRelease(transaction, release);
    await transaction.query("UPDATE windows SET state = $2 WHERE id = $1", [id, release.status]);
    return release.status;
  });
}

/** The tally, if every report that was received is in it. */
async function openCounted(transaction: Queryable, keyFile: KeyFile, window: WindowRow): Promise<Tally | undefined> {
  const stored = await lockTally(transaction, window.id);
  const windowSecret = await secretOf(transaction, keyFile, window);
  return stored?.counted === window.received && windowSecret ? openTally(windowSecret, stored.sealed) : undefined;
}

/** A window whose secret is gone: nothing of it can be opened, and that is told. */
export async function giveUpWindow(
  database: Database,
  { manifest }: TaskVersion,
  { id }: WindowRow,
  at: number,
): Promise<void> {
  await database.transaction(async (transaction) => {
    const window = await lockWindow(transaction, id);
    if (!isUnreleased(window)) return;
    const refused = await refusalsOf(transaction, id);
    await addRelease(transaction, { status: "lost", ...outcomeOf({ manifest, window, refused, at }) });
    await transaction.query("UPDATE windows SET state = 'lost' WHERE id = $1", [id]);
  });
}

/**
 * Destroys the window's secret, then everything that devices sent and what was read from it: states of this window can never be opened again.
 * Of several tallies one erases the rows; whether it was this one, and it is done.
 */
export async function eraseWindow(
  { database, keyFile, leaseSeconds }: Pick<CountingParts, "database" | "keyFile" | "leaseSeconds">,
  { id, name, number, enrolled, received }: WindowRow,
  isStopping: () => boolean,
): Promise<boolean> {
  // The release must be there for good before what it was made from is gone for good.
  await database.persist();
  const isReleased = await database.transaction(async (transaction) => {
    await lockKeyFile(transaction);
    // A standby that has taken over since the window was read may not know of the release.
    if (isUnreleased(await readWindow(transaction, id))) return false;
    keyFile.destroyWindow(name, number);
    return true;
  });
  if (!isReleased) return false;
  const eraser = randomBytes(16);
  const slices = Math.max(enrolled, received) > MOST_AT_ONCE ? MOST_SLICES : 1;
  for (const table of ["reports", "uncounted", "devices", "shared_reports"] as const) {
    for (let slice = 0; slice < slices; slice++) {
      // A small window is not left half erased.
      if (slices > 1 && isStopping()) return false;
      if (!(await claimErasure(database, id, eraser, leaseSeconds))) return false;
      await eraseSlice(database, table, id, slice, slices);
    }
  }
  await database.query("DELETE FROM tallies WHERE window_id = $1", [id]);
  await markErased(database, id);
  // Rows that were deleted stay in the files until their space is used again.
  for (const table of ["reports", "uncounted", "devices", "shared_reports", "tallies"])
    await database.query(`VACUUM ${table}`);
  return true;
}

const MOST_AT_ONCE = 10_000;
const MOST_SLICES = 256;

/** By the first byte of the device's id: uploads of other windows go on in between. */
async function eraseSlice(
  database: Queryable,
  table: "reports" | "uncounted" | "devices" | "shared_reports",
  windowId: number,
  slice: number,
  slices: number,
): Promise<void> {
  const isLast = slice === slices - 1;
  await database.query(`DELETE FROM ${table} WHERE device >= $1 AND ($2::boolean OR device < $3) AND window_id = $4`, [
    Uint8Array.of(slice),
    isLast,
    Uint8Array.of(isLast ? slice : slice + 1),
    windowId,
  ]);
}
