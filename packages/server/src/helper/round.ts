import { timesOf } from "@lethe/core/message";
import { giveUpWindow } from "../release/give-up.ts";
import { eraseIfOver, forEachWindow, type RoundParts } from "../rounds/round.ts";
import type { TaskVersion } from "../storage/tasks.ts";
import type { WindowRow } from "../storage/windows.ts";

/** How long a helper keeps a window's secret for a leader that does not finish the window. */
const FORSAKEN_SECONDS = 7 * 86_400;

/**
 * One round of a helper: its windows open, count and close when its leader asks for that, so only two things are left
 * to do. Finished windows are erased, and windows that the leader has not finished for a week are given up. Returns
 * false: nothing ever needs another round at once.
 */
export async function helperRound(parts: RoundParts, isStopping: () => boolean): Promise<boolean> {
  return forEachWindow(parts, isStopping, async (window, task) => {
    if (!(await eraseIfOver(parts, window, isStopping))) await giveUpIfForsaken(parts, window, task, isStopping);
    return false;
  });
}

async function giveUpIfForsaken(
  parts: RoundParts,
  window: WindowRow,
  task: TaskVersion,
  isStopping: () => boolean,
): Promise<void> {
  const { database, log, now, onFinished } = parts;
  if (now() < timesOf(task.manifest, window.number).closes + FORSAKEN_SECONDS) return;
  const named = { task: window.name, window: window.number };
  log.error({ ...named, code: "reports-differ" }, "the leader has not finished this window for a week: it is lost");
  await giveUpWindow(database, task, window, Math.floor(now()));
  onFinished("lost");
  await eraseIfOver(parts, { ...window, state: "lost" }, isStopping);
}
