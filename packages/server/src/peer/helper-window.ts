import { LetheError } from "@lethe/core/error";
import type { TwoServerLayout } from "@lethe/core/two-server";
import { giveUpWindow } from "../release/finish.ts";
import type { Database } from "../storage/database.ts";
import type { TaskVersion } from "../storage/tasks.ts";
import { findWindow, isUnreleased, readWindow, type WindowRow } from "../storage/windows.ts";
import type { HelperParts } from "./helper.ts";

/** How many devices a leader may ask about in one request. */
export const MOST_AT_ONCE = 10_000;

/** The version of a task that both servers mean. */
export async function versionOf(
  { tasks }: HelperParts,
  name: string,
  window: number,
  manifestHash: Uint8Array,
): Promise<TaskVersion & { readonly shared: TwoServerLayout }> {
  if (!tasks.inWindow(name, window)) await tasks.refresh();
  const task = tasks.inWindow(name, window);
  if (!task?.shared || Buffer.compare(task.hash, manifestHash) !== 0) {
    throw new LetheError(
      "task-differs",
      `window ${window} of ${name} runs under another manifest at the helper: was one of the servers restored?`,
    );
  }
  return { ...task, shared: task.shared };
}

/**
 * The window that the leader means; undefined if both know of none. After a restored backup the helper may know none of that number, or have
 * made it anew: what devices have encrypted for it can then not be opened, and would all look invalid.
 */
export async function findAgreedWindow(
  { database, now }: HelperParts,
  task: TaskVersion,
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

/** What fails because the window was finished meanwhile, and its secret destroyed. */
export async function unlessOver<T>(database: Database, { id, name, number }: WindowRow, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw isUnreleased(await readWindow(database, id)) ? error : windowClosed(name, number);
  }
}

export function windowClosed(name: string, window: number): LetheError {
  return new LetheError("window-closed", `window ${window} of ${name} is over at the helper`);
}
