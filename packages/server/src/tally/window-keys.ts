import { commitToWindowSecret, type Secret } from "@lethe/core/encryption";
import { LetheError } from "@lethe/core/error";
import type { Database, Queryable } from "../storage/database.ts";
import { lockKeyFile } from "../storage/locks.ts";
import { addTally, FIRST_SHARD } from "../storage/tallies.ts";
import { findVersionIn, type TaskVersion } from "../storage/tasks.ts";
import { addWindow, findWindow, isUnreleased, readWindow, type WindowRow } from "../storage/windows.ts";
import type { KeyFile } from "./key-file.ts";
import type { CommittedKeys } from "./opening.ts";
import { sealEmptyTally } from "./sealed-tally.ts";

/**
 * Makes a window, with its empty tally, in one transaction; its secret is on disk before. If several processes try, one
 * of them makes it. `noise` is what the count of invalid reports begins with. Undefined if a new version of the task,
 * which this process has not seen yet, takes over from this window. `others` are the ids of the other databases.
 */
export function makeWindow(
  database: Database,
  keyFile: KeyFile,
  { id: taskId, manifest: { task: name } }: TaskVersion,
  number: number,
  noise: () => number,
  others = "",
): Promise<WindowRow | undefined> {
  return database.transaction(async (transaction) => {
    await lockKeyFile(transaction);
    const made = await findWindow(transaction, name, number);
    if (made) return made;
    if ((await findVersionIn(transaction, name, number)) !== taskId) return undefined;
    const windowSecret = keyFile.openWindow(name, number);
    const id = await addWindow(transaction, {
      taskId,
      name,
      number,
      commitment: commitToWindowSecret(windowSecret),
      others,
    });
    await addTally(transaction, id, FIRST_SHARD, { counted: 0, sealed: sealEmptyTally(windowSecret, noise()) });
    return readWindow(transaction, id);
  });
}

/** The secret that a window began with; undefined if the key file holds none, or another one. */
export function findSecret(keyFile: KeyFile, { name, number, commitment }: WindowRow): Secret<Uint8Array> | undefined {
  const found = keyFile.windowSecret(name, number);
  return found && Buffer.compare(commitToWindowSecret(found), commitment) === 0 ? found : undefined;
}

/**
 * The secret that a window began with. Undefined if another process has released the window meanwhile and destroyed its
 * secret. Throws if the key file should hold it and does not: without the secret no report can be opened, and with
 * another one all would look invalid.
 */
export async function secretOf(
  database: Queryable,
  keyFile: KeyFile,
  window: WindowRow,
): Promise<Secret<Uint8Array> | undefined> {
  const found = findSecret(keyFile, window);
  if (found || !isUnreleased(await readWindow(database, window.id))) return found;
  throw new LetheError(
    "bad-key-file",
    `the key file holds no secret for window ${window.number} of ${window.name}, whose reports cannot be opened without it: ` +
      "restore the key file, or give these windows up with --abandon-lost-windows",
  );
}

/** What a thread needs to make keys and to open reports; with a copy of the secret, which the thread wipes. */
export function windowKeysOf(task: TaskVersion, window: WindowRow, windowSecret: Secret<Uint8Array>): CommittedKeys {
  const { number, commitment } = window;
  return { manifest: task.signed.manifest, window: number, commitment, windowSecret: windowSecret.reveal() };
}
