import type { Manifest, Task, WindowStatus } from "@lethe/core/message";
import { fetchRelease, fetchStatus, unless } from "./service-client.ts";

type Timing = Pick<Task, "ticks" | "tickSeconds" | "graceSeconds">;

/** Unix seconds. */
export function timesOf({ ticks, tickSeconds }: Timing, window: number): { from: number; to: number } {
  const seconds = ticks * tickSeconds;
  return { from: window * seconds, to: (window + 1) * seconds };
}

export function runningWindow({ ticks, tickSeconds }: Timing): number {
  return Math.floor(Date.now() / 1000 / (ticks * tickSeconds));
}

/** The oldest window whose reports are still accepted, by the clock. */
export function oldestInGrace({ ticks, tickSeconds, graceSeconds }: Timing): number {
  return Math.max(0, Math.floor((Date.now() / 1000 - graceSeconds) / (ticks * tickSeconds)));
}

export function isFinished({ state }: WindowStatus): boolean {
  return state === "released" || state === "not-enough" || state === "lost";
}

/** Undefined for a window from before the task. */
export function findStatus(server: string, task: string, window: number): Promise<WindowStatus | undefined> {
  return unless("window-closed", fetchStatus(server, task, window));
}

/** The window of which something will be told next. */
export async function nextToFinish(server: string, task: Manifest): Promise<WindowStatus> {
  const running = runningWindow(task);
  // One before those in grace: its release may be in the making.
  for (let window = Math.max(0, oldestInGrace(task) - 1); window <= running; window++) {
    const status = await findStatus(server, task.task, window);
    if (!status) window = Math.max(window, task.fromWindow - 1);
    else if (await isUnfinished(server, status)) return status;
  }
  return fetchStatus(server, task.task, Math.max(running + 1, task.fromWindow));
}

/** Whether there is still something to be told. A window through which the service did not run is closed and never released. */
export async function isUnfinished(server: string, status: WindowStatus): Promise<boolean> {
  if (isFinished(status)) return false;
  const { task, window, state } = status;
  if (state !== "closed") return true;
  return unless(
    "window-closed",
    fetchRelease(server, task, window).then(() => true),
  ).then((will) => will ?? false);
}
