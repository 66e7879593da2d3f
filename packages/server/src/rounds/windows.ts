import { windowAt } from "@lethe/core/message";
import { allOf } from "../async/all-of.ts";
import { type KeyHolder, protocolOf } from "../protocol/protocol.ts";
import type { Database } from "../storage/database.ts";
import type { Databases } from "../storage/databases.ts";
import type { Place } from "../storage/place.ts";
import { addSpareKeys, countSpareKeys, KEYS_PER_BUNDLE, poolOf } from "../storage/spare-keys.ts";
import type { TaskRegistry, TaskVersion } from "../storage/tasks.ts";
import { addPart, findWindow, readWindow, type WindowRow } from "../storage/windows.ts";
import type { KeyFile } from "../tally/key-file.ts";
import { makeWindow, secretOf } from "../tally/window-keys.ts";

/** A window that takes devices, and the version of the task that it runs under. */
export interface OpenWindow {
  readonly row: WindowRow;
  readonly task: TaskVersion;
}

/** The part of such a window in one of its databases. */
export interface OpenPart extends OpenWindow {
  readonly database: Database;
  readonly place: Place;
}

/**
 * Makes the running window of every task and the next, if they are not there. `noise` is what the count of invalid
 * reports begins with.
 */
export async function openWindows(
  { first: database, others }: Pick<Databases, "first" | "others">,
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
        (await findWindow(database, name, number)) ??
        (await makeWindow(database, keyFile, task, number, noise, others));
      if (row?.state === "collecting") open.push({ row, task });
    }
  }
  return open;
}

/** The parts of an open window, whether its databases have them yet or not. */
export function partsOf(databases: Databases, { row, task }: OpenWindow): OpenPart[] {
  const all = databases.of(row);
  return all.map((database, index) => ({ row, task, database, place: { index, of: all.length } }));
}

type FillingParts = Pick<KeyHolder, "database" | "threads" | "keyFile" | "helper">;

/**
 * Fills up the pool of device keys that a database has for a window, again and again while devices take keys, until
 * `isPaused`; returns how many it made.
 */
export async function keepPoolFilled(
  parts: FillingParts,
  window: OpenPart,
  keysAhead: number,
  isPaused: () => boolean,
): Promise<number> {
  if (window.place.index > 0) await addPart(parts.database, window.database, window.row);
  let made = 0;
  for (;;) {
    const lacked = await fillPool(parts, window, keysAhead);
    made += lacked;
    if (lacked === 0 || isPaused()) return made;
  }
}

/** Makes the device keys that a database lacks for a window, in this process's pool, and returns how many it lacked. */
export async function fillPool(
  parts: FillingParts,
  { row, task, database, place }: OpenPart,
  keysAhead: number,
): Promise<number> {
  const { database: first, keyFile } = parts;
  const lacking = keysAhead - (await countSpareKeys(database, row.id));
  const windowSecret = lacking > 0 ? await secretOf(first, keyFile, row) : undefined;
  if (!windowSecret) return 0;
  const protocol = protocolOf(task);
  const bundles = Array.from({ length: Math.ceil(lacking / KEYS_PER_BUNDLE) }, (_, i) =>
    Math.min(KEYS_PER_BUNDLE, lacking - i * KEYS_PER_BUNDLE),
  );
  try {
    await allOf(
      bundles.map(async (count) => {
        const bundle = await protocol.issueKeys(parts, row, windowSecret, count, place);
        await addSpareKeys(database, row.id, poolOf(database), bundle);
      }),
    );
  } catch (error) {
    // The window may have been released meanwhile, and its secret destroyed.
    if ((await readWindow(first, row.id)).state !== "collecting") return 0;
    throw error;
  }
  return lacking;
}
