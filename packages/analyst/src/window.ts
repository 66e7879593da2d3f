import { type Manifest, oldestInGrace, type WindowStatus, windowAt } from "@lethe/core/message";
import { unless } from "./request.ts";
import { fetchRelease, fetchWindow, type Reader } from "./service.ts";

/** Whether the server has published everything that it will ever publish about the window. */
export function isFinished({ state }: WindowStatus): boolean {
  return state === "released" || state === "not-enough" || state === "lost";
}

/** The window about which the server will publish something next. */
export async function nextToFinish(
  server: string,
  manifest: Manifest,
  now: number = seconds(),
  reader: Reader = {},
): Promise<WindowStatus> {
  const { task, fromWindow } = manifest;
  const running = windowAt(manifest, now);
  // One before those in grace: the server may be making its release.
  for (let window = Math.max(0, oldestInGrace(manifest, now) - 1); window <= running; window++) {
    const status = await findWindow(server, task, window, reader);
    if (!status) window = Math.max(window, fromWindow - 1);
    else if (await isUnfinished(server, status, reader)) return status;
  }
  return fetchWindow(server, task, Math.max(running + 1, fromWindow), reader);
}

/** The newest window that is over and still waits for late reports, or undefined if there is none. */
export async function newestInGrace(
  server: string,
  manifest: Manifest,
  now: number = seconds(),
): Promise<number | undefined> {
  for (let window = windowAt(manifest, now) - 1; window >= oldestInGrace(manifest, now); window--) {
    const status = await findWindow(server, manifest.task, window);
    if (status?.state === "grace") return window;
    if (!status) break;
  }
  return undefined;
}

const MOST_OPEN = 5;
/** How far back to look for windows that should be finished and are not, for example because the helper is away. */
const MOST_OVERDUE = 30;

/**
 * The next window, the running one, those before it that accept reports, and those that wait to be finished; newest
 * first.
 */
export async function unfinishedWindows(
  server: string,
  manifest: Manifest,
  now: number = seconds(),
  reader: Reader = {},
): Promise<WindowStatus[]> {
  const next = windowAt(manifest, now) + 1;
  const over = oldestInGrace(manifest, now) - 1;
  const open = Array.from({ length: Math.min(next - over, MOST_OPEN) }, (_, i) => next - i);
  const overdue = Array.from({ length: MOST_OVERDUE }, (_, i) => over - i);
  const found = await Promise.all(
    [...open, ...overdue]
      .filter((window) => window >= 0)
      .map(async (window) => {
        const status = await findWindow(server, manifest.task, window, reader);
        return status && (window > over || (await isUnfinished(server, status, reader))) ? status : undefined;
      }),
  );
  return found.filter((status) => status !== undefined);
}

/** Undefined for a window before the task's first. */
function findWindow(server: string, task: string, window: number, reader?: Reader): Promise<WindowStatus | undefined> {
  return unless("window-closed", fetchWindow(server, task, window, reader));
}

/**
 * Whether the server will still publish something. A window during which it did not run is closed and never released.
 */
async function isUnfinished(server: string, status: WindowStatus, reader?: Reader): Promise<boolean> {
  if (isFinished(status)) return false;
  const { task, window, state } = status;
  if (state !== "closed") return true;
  const release = fetchRelease(server, task, window, reader).then(() => true);
  return (await unless("window-closed", release)) ?? false;
}

/** The time, in Unix seconds. */
export function seconds(): number {
  return Date.now() / 1000;
}
