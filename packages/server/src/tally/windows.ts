import { commitToWindowSecret, type Secret } from "@lethe/core/encryption";
import { LetheError } from "@lethe/core/error";
import type { Database } from "../storage/database.ts";
import { addSpareDevices, countSpareDevices } from "../storage/devices.ts";
import { beginTally } from "../storage/tallies.ts";
import type { TaskRegistry, TaskVersion } from "../storage/tasks.ts";
import { ensureWindow, findWindow, type WindowRow } from "../storage/windows.ts";
import { windowAt } from "../window-time.ts";
import type { KeyFile } from "./key-file.ts";
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
      if (row.state === "collecting") open.push({ row, task });
    }
  }
  return open;
}

/** The secret is on disk before the window is known. */
async function makeWindow(
  database: Database,
  keyFile: KeyFile,
  { id: taskId, manifest: { task: name } }: TaskVersion,
  number: number,
  noise: () => number,
): Promise<WindowRow> {
  const commitment = commitToWindowSecret(keyFile.openWindow(name, number));
  const row = await ensureWindow(database, { taskId, name, number, commitment });
  await beginTally(database, row.id, noise());
  return row;
}

/** The secret that a window began with. Without it nothing can be opened, and with another one everything would look invalid. */
export function secretOf(keyFile: KeyFile, { name, number, commitment }: WindowRow): Secret<Uint8Array> {
  const found = keyFile.windowSecret(name, number);
  if (!found || Buffer.compare(commitToWindowSecret(found), commitment) !== 0) {
    throw new LetheError(
      "bad-key-file",
      `the key file holds no secret for window ${number} of ${name}, whose reports cannot be opened without: restore the key file`,
    );
  }
  return found;
}

/** Fills up the pool of device keys of a window. */
export async function fillPool(
  database: Database,
  threads: Threads,
  keyFile: KeyFile,
  { row, task }: OpenWindow,
  keysAhead: number,
): Promise<void> {
  const lacking = keysAhead - (await countSpareDevices(database, row.id));
  if (lacking <= 0) return;
  const windowSecret = secretOf(keyFile, row).reveal();
  const keys = { manifest: task.signed.manifest, window: row.number, windowSecret };
  const chunks = Array.from({ length: Math.ceil(lacking / KEYS_AT_ONCE) }, (_, i) =>
    Math.min(KEYS_AT_ONCE, lacking - i * KEYS_AT_ONCE),
  );
  await Promise.all(
    chunks.map(async (count) => {
      const issued = await threads.run("issue", keys, count, keyFile.signingKey);
      await addSpareDevices(database, row.id, issued);
    }),
  );
}
