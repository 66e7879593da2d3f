import { commitToWindowSecret, type Secret } from "@lethe/core/encryption";
import { LetheError } from "@lethe/core/error";
import { windowAt } from "@lethe/core/message";
import { allOf } from "../all-of.ts";
import type { Helper } from "../peer/client.ts";
import { type HelperKeys, packHelperKeys } from "../peer/messages.ts";
import type { Database, Queryable } from "../storage/database.ts";
import { addSpareDevices, countSpareDevices } from "../storage/devices.ts";
import { lockKeyFile } from "../storage/locks.ts";
import { addTally } from "../storage/tallies.ts";
import { findVersionIn, type TaskRegistry, type TaskVersion } from "../storage/tasks.ts";
import {
  addWindow,
  findWindow,
  isUnreleased,
  noteHelperCommitment,
  readWindow,
  type WindowRow,
} from "../storage/windows.ts";
import type { KeyFile } from "./key-file.ts";
import type { CommittedKeys, IssuedKeys } from "./opening.ts";
import { sealTally } from "./sealed-tally.ts";
import type { Threads } from "./threads.ts";

/** A window that takes devices, and the version of the task that it runs under. */
export interface OpenWindow {
  readonly row: WindowRow;
  readonly task: TaskVersion;
}

/** How many keys a thread makes at a time. */
const KEYS_AT_ONCE = 32;

/** Makes the running window of every task and the next, if they are not there; `noise` is what the count of invalid reports begins with. */
export async function openWindows(
  database: Database,
  tasks: TaskRegistry,
  keyFile: KeyFile,
  now: number,
  noise: () => number,
): Promise<OpenWindow[]> {
  const open: OpenWindow[] = [];
  for (const name of tasks.names()) {
    const [first] = tasks.versions(name);
    if (!first) continue;
    const running = windowAt(first.manifest, now);
    for (const number of [running, running + 1]) {
      const task = tasks.inWindow(name, number);
      if (!task) continue;
      const row =
        (await findWindow(database, name, number)) ?? (await makeWindow(database, keyFile, task, number, noise));
      if (row?.state === "collecting") open.push({ row, task });
    }
  }
  return open;
}

/**
 * The secret is on disk before the window is known; window and tally come together. Of several tallies one makes it. Undefined if a new
 * version of the task, which this process has not seen yet, takes over from this window.
 */
export function makeWindow(
  database: Database,
  keyFile: KeyFile,
  { id: taskId, manifest: { task: name } }: TaskVersion,
  number: number,
  noise: () => number,
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
    });
    await addTally(transaction, id, sealTally(windowSecret, { sums: [], invalid: noise() }));
    return readWindow(transaction, id);
  });
}

/** The secret that a window began with; undefined if the key file has none, or another. */
export function findSecret(keyFile: KeyFile, { name, number, commitment }: WindowRow): Secret<Uint8Array> | undefined {
  const found = keyFile.windowSecret(name, number);
  return found && Buffer.compare(commitToWindowSecret(found), commitment) === 0 ? found : undefined;
}

/**
 * Without it nothing can be opened, and with another one everything would look invalid. Undefined if another tally has released the
 * window meanwhile and destroyed its secret.
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
    `the key file holds no secret for window ${window.number} of ${window.name}, whose reports cannot be opened without: ` +
      "restore the key file, or give these windows up with --abandon-lost-windows",
  );
}

/** What a thread needs to make keys and to open reports. */
export function windowKeysOf(task: TaskVersion, window: WindowRow, windowSecret: Secret<Uint8Array>): CommittedKeys {
  const { number, commitment } = window;
  return { manifest: task.signed.manifest, window: number, commitment, windowSecret: windowSecret.reveal() };
}

/** Fills up the pool of device keys of a window, and says how many it lacked. */
export async function fillPool(
  database: Database,
  threads: Threads,
  keyFile: KeyFile,
  { row, task }: OpenWindow,
  keysAhead: number,
  helper?: Helper,
): Promise<number> {
  const lacking = keysAhead - (await countSpareDevices(database, row.id));
  const windowSecret = lacking > 0 ? await secretOf(database, keyFile, row) : undefined;
  if (!windowSecret) return 0;
  const keys = windowKeysOf(task, row, windowSecret);
  const chunks = Array.from({ length: Math.ceil(lacking / KEYS_AT_ONCE) }, (_, i) =>
    Math.min(KEYS_AT_ONCE, lacking - i * KEYS_AT_ONCE),
  );
  await allOf(
    chunks.map(async (count) => {
      const issued = task.shared
        ? await issueBoth(database, threads, keyFile, { row, task }, keys, count, helper)
        : await threads.run("issue", keys, count, keyFile.signingKey);
      await addSpareDevices(database, row.id, issued);
    }),
  );
  return lacking;
}

/** The leader's keys, and after them the helper's with its signature: devices get both. */
async function issueBoth(
  database: Database,
  threads: Threads,
  keyFile: KeyFile,
  { row, task }: OpenWindow,
  keys: CommittedKeys,
  count: number,
  helper: Helper | undefined,
): Promise<IssuedKeys[]> {
  if (!helper) throw new LetheError("bad-role", "a task of two servers needs --role leader");
  const issued = await threads.run("issueShares", keys, "leader", count, keyFile.signingKey);
  const devices = issued.map(({ device }) => device);
  const { helperCommitment, keys: theirs } = await helper.issueKeys(task, row, devices);
  const noted = row.helperCommitment ?? (await noteHelperCommitment(database, row.id, helperCommitment));
  if (!noted || Buffer.compare(noted, helperCommitment) !== 0) {
    throw new LetheError("reports-differ", `the helper has made window ${row.number} of ${row.name} anew: it is lost`);
  }
  return issued.map(({ device, publicKeys, signature }, i) => {
    return { device, publicKeys: packHelperKeys(publicKeys, theirs[i] as HelperKeys), signature };
  });
}
