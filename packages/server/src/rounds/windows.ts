import { windowAt } from "@lethe/core/message";
import { allOf } from "../async/all-of.ts";
import { type KeyHolder, protocolOf } from "../protocol/protocol.ts";
import type { Database } from "../storage/database.ts";
import { addSpareDevices, countSpareDevices } from "../storage/devices.ts";
import type { TaskRegistry, TaskVersion } from "../storage/tasks.ts";
import { findWindow, type WindowRow } from "../storage/windows.ts";
import type { KeyFile } from "../tally/key-file.ts";
import { makeWindow, secretOf } from "../tally/window-keys.ts";

/** A window that takes devices, and the version of the task that it runs under. */
export interface OpenWindow {
  readonly row: WindowRow;
  readonly task: TaskVersion;
}

/** How many keys a thread makes at a time. */
const KEYS_AT_ONCE = 32;

/**
 * Makes the running window of every task and the next, if they are not there. `noise` is what the count of invalid
 * reports begins with.
 */
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

/** Fills up the pool of device keys of a window, and returns how many it lacked. */
export async function fillPool(
  parts: Pick<KeyHolder, "database" | "threads" | "keyFile" | "helper">,
  { row, task }: OpenWindow,
  keysAhead: number,
): Promise<number> {
  const { database, keyFile } = parts;
  const lacking = keysAhead - (await countSpareDevices(database, row.id));
  const windowSecret = lacking > 0 ? await secretOf(database, keyFile, row) : undefined;
  if (!windowSecret) return 0;
  const protocol = protocolOf(task);
  const chunks = Array.from({ length: Math.ceil(lacking / KEYS_AT_ONCE) }, (_, i) =>
    Math.min(KEYS_AT_ONCE, lacking - i * KEYS_AT_ONCE),
  );
  await allOf(
    chunks.map(async (count) => {
      await addSpareDevices(database, row.id, await protocol.issueKeys(parts, row, windowSecret, count));
    }),
  );
  return lacking;
}
