import { randomBytes } from "node:crypto";
import type { Database } from "../storage/database.ts";
import { erasePart, finishErasure, partsToErase } from "../storage/erasure.ts";
import { lockKeyFile } from "../storage/locks.ts";
import { claimErasure, closeWindow, isUnreleased, readWindow, type WindowRow } from "../storage/windows.ts";
import type { CountingParts } from "../tally/batches.ts";

/**
 * Destroys the window's secret, then everything that devices sent and what was read from it: reports and states of this
 * window can never be opened again. One of several processes erases the rows of a database, the first unless another is
 * given; returns whether it was this one, and it is done.
 */
export async function eraseWindow(
  { database: first, keyFile, leaseSeconds }: Pick<CountingParts, "database" | "keyFile" | "leaseSeconds">,
  { id, name, number, enrolled, received }: WindowRow,
  isStopping: () => boolean,
  database: Database = first,
): Promise<boolean> {
  // The release must be on disk before what it was made from is destroyed.
  await first.persist();
  const isReleased = await first.transaction(async (transaction) => {
    await lockKeyFile(transaction);
    // A standby that has taken over since the window was read may not have the release.
    if (isUnreleased(await readWindow(transaction, id))) return false;
    keyFile.destroyWindow(name, number);
    return true;
  });
  if (!isReleased) return false;
  // A window that is lost may still be open in another database.
  if (database !== first) await closeWindow(database, id);
  const eraser = randomBytes(16);
  for (const part of partsToErase(Math.max(enrolled, received))) {
    // A small window is not left half erased.
    if (part.slice.of > 1 && isStopping()) return false;
    if (!(await claimErasure(database, id, eraser, leaseSeconds))) return false;
    await erasePart(database, id, part);
  }
  await finishErasure(database, id);
  return true;
}
