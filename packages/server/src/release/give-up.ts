import type { Database } from "../storage/database.ts";
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

/** Ends a window whose reports can never be opened, and publishes that it is lost. */
export async function giveUpWindow(
  database: Database,
  { manifest }: TaskVersion,
  { id }: WindowRow,
  at: number,
): Promise<void> {
  await database.transaction(async (transaction) => {
    await closeInTransaction(transaction, id);
    const window = await readWindow(transaction, id);
    if (!isUnreleased(window)) return;
    const refused = await refusalsOf(transaction, id);
    await addRelease(transaction, { status: "lost", ...outcomeOf({ manifest, window, refused, at }) });
    await endWindow(transaction, id, "lost");
  });
}

/**
 * Throws if the key file lacks the secret of a window that is not released; with `abandonLostWindows` such windows are
 * given up instead.
 */
export async function requireSecrets(
  { database, tasks, now }: { readonly database: Database; readonly tasks: TaskRegistry; readonly now: () => number },
  keyFile: KeyFile,
  abandonLostWindows: boolean,
): Promise<void> {
  for (const window of await unfinishedWindows(database)) {
    if (!isUnreleased(window)) continue;
    const task = tasks.byId(window.taskId);
    if (task && abandonLostWindows && !findSecret(keyFile, window)) {
      await giveUpWindow(database, task, window, Math.floor(now()));
    } else await secretOf(database, keyFile, window);
  }
}
