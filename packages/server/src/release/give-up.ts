import { LetheError } from "@lethe/core/error";
import type { Database } from "../storage/database.ts";
import { type Databases, oneDatabase, sumOf, withAnsweringParts } from "../storage/databases.ts";
import { addRelease } from "../storage/releases.ts";
import type { TaskRegistry, TaskVersion } from "../storage/tasks.ts";
import {
  closeInTransaction,
  endWindow,
  isUnreleased,
  readWindow,
  refusalsOf,
  unfinishedWindows,
  type WindowRow,
} from "../storage/windows.ts";
import type { KeyFile } from "../tally/key-file.ts";
import { findSecret, secretOf } from "../tally/window-keys.ts";
import { outcomeOf } from "./release.ts";

/**
 * Ends a window whose reports can never be opened, and publishes that it is lost. The published counts have those of the
 * service's other databases, as far as they answer.
 */
export async function giveUpWindow(
  database: Database,
  { manifest }: TaskVersion,
  given: WindowRow,
  at: number,
  databases: Databases = oneDatabase(database),
): Promise<void> {
  const { id } = given;
  const nothing = { ...given, enrolled: 0, received: 0 };
  const elsewhere = await withAnsweringParts(databases, nothing);
  await database.transaction(async (transaction) => {
    await closeInTransaction(transaction, id);
    const own = await readWindow(transaction, id);
    if (!isUnreleased(own)) return;
    const window = { ...own, ...sumOf([own, elsewhere]) };
    const refused = await refusalsOf(transaction, id);
    await addRelease(transaction, { status: "lost", ...outcomeOf({ manifest, window, refused, at }) });
    await endWindow(transaction, window, "lost");
  });
}

/**
 * Throws if this process lacks a database of a window that is not released, or the key file its secret; with
 * `abandonLostWindows` such windows are given up instead.
 */
export async function requireWindows(
  {
    databases,
    tasks,
    now,
  }: { readonly databases: Databases; readonly tasks: TaskRegistry; readonly now: () => number },
  keyFile: KeyFile,
  abandonLostWindows: boolean,
): Promise<void> {
  const { first } = databases;
  for (const window of await unfinishedWindows(first)) {
    if (!isUnreleased(window)) continue;
    const task = tasks.byId(window.taskId);
    const missing = databases.missing(window);
    if (task && abandonLostWindows && (missing || !findSecret(keyFile, window))) {
      await giveUpWindow(first, task, window, Math.floor(now()), databases);
      continue;
    }
    await secretOf(first, keyFile, window);
    if (missing) throw new LetheError("bad-database", missing.message);
  }
}
