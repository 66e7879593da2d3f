import { type FinishedWindow, fetchWindow, lastWindows } from "@lethe/analyst";
import type { WindowStatus } from "@lethe/core/message";

/** Whom to ask: the service of this page, with the admin token if one was entered. */
export interface Source {
  readonly server: string;
  readonly token: string | undefined;
  readonly task: string;
}

/** The last windows of a task, oldest first. What two servers share is put together by code that is loaded for it. */
export async function fetchWindows({ server, token, task }: Source, last: number): Promise<readonly FinishedWindow[]> {
  const found = await lastWindows(server, task, last, { token });
  const alone = found.filter((each) => each.status !== "shared");
  if (alone.length === found.length) return alone;
  const { collectWindows } = await import("./two-servers.ts");
  return collectWindows({ server, token, task }, last);
}

/** The most windows that can accept reports, or wait for their release, and are asked for. */
const MOST_UNFINISHED = 4;

/**
 * The windows that are not finished, oldest first. Their numbers follow from the newest finished one, because all
 * windows of a task have the same length; without one, the manifest has to be fetched, and the code that reads it.
 */
export async function fetchUnfinished(
  { server, token, task }: Source,
  newest: FinishedWindow | undefined,
  now: number,
): Promise<readonly WindowStatus[]> {
  if (!newest) {
    const { firstWindows } = await import("./first-windows.ts");
    return firstWindows({ server, token, task }, now);
  }
  const running = Math.floor(now / (newest.to - newest.from));
  const first = Math.max(newest.window + 1, running - MOST_UNFINISHED + 1);
  const numbers = Array.from({ length: Math.max(0, running - first + 1) }, (_, i) => first + i);
  return Promise.all(numbers.map((window) => fetchWindow(server, task, window, { token })));
}
