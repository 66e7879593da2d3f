import { LetheError } from "@lethe/core/error";
import { twoServerTask } from "../protocol/protocol.ts";
import { giveUpWindow } from "../release/give-up.ts";
import type { Database } from "../storage/database.ts";
import type { TwoServerTask } from "../storage/tasks.ts";
import { findWindow, isUnreleased, readWindow, type WindowRow } from "../storage/windows.ts";
import type { HelperParts } from "./helper.ts";

/** How many devices a leader may ask about in one request. */
export const MOST_AT_ONCE = 10_000;

/** The version of a task that a window runs under; throws unless it is the same at both servers. */
export async function versionOf(
  { tasks }: HelperParts,
  name: string,
  window: number,
  manifestHash: Uint8Array,
): Promise<TwoServerTask> {
  if (!tasks.inWindow(name, window)) await tasks.refresh();
  const task = twoServerTask(tasks.inWindow(name, window));
  if (!task || Buffer.compare(task.hash, manifestHash) !== 0) {
    throw new LetheError(
      "task-differs",
      `window ${window} of ${name} runs under another manifest at the helper: was one of the servers restored?`,
    );
  }
  return task;
}

/**
 * The window that the leader means; undefined if neither server has it yet. Throws if the helper, restored from a
 * backup, lacks the window or has made another one in its place: then it cannot open what devices have encrypted, and
 * every report would look invalid.
 */
export async function findAgreedWindow(
  { database, now }: HelperParts,
  task: TwoServerTask,
  window: number,
  helperCommitment: Uint8Array,
): Promise<WindowRow | undefined> {
  const name = task.manifest.task;
  const found = await findWindow(database, name, window);
  if (helperCommitment.every((byte) => byte === 0)) return found;
  if (found && Buffer.compare(found.commitment, helperCommitment) === 0) return found;
  if (found) await giveUpWindow(database, task, found, Math.floor(now()));
  throw new LetheError(
    "reports-differ",
    `the helper has lost the keys that devices have for window ${window} of ${name}: was it restored from a backup?`,
  );
}

/**
 * The result of some work. If it fails because the window was finished meanwhile, and its secret destroyed, the error
 * says that instead.
 */
export async function unlessOver<T>(database: Database, { id, name, number }: WindowRow, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw isUnreleased(await readWindow(database, id)) ? error : windowClosed(name, number);
  }
}

/** The refusal of what comes after the end of a window. */
export function windowClosed(name: string, window: number): LetheError {
  return new LetheError("window-closed", `window ${window} of ${name} is over at the helper`);
}
