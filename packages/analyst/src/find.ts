import type { WindowStatus } from "@lethe/core/message";
import { fetchManifest } from "./manifest.ts";
import { fetchRelease, fetchReleases, fetchWindow, type PublishedWindow, type Reader } from "./service.ts";
import { isFinished, nextToFinish, seconds } from "./window.ts";

/** A window that is not finished: its state instead of a release. */
export type Pending = { readonly status: "pending" } & WindowStatus;

/** Which release to find, and who asks. */
export interface SoughtRelease extends Reader {
  /** If absent: the newest window with figures; with `wait`, or if there is none, the next window to finish. */
  readonly window?: number;
  /** Wait until the window is finished. */
  readonly wait?: boolean;
  /** Called with the window's state each time a waiting client has looked, and with undefined when it is finished. */
  readonly onPending?: (pending: Pending | undefined) => void | Promise<void>;
}

/** A release, or what the server has instead. */
export interface FoundRelease {
  readonly outcome: PublishedWindow | Pending;
  /** Newer windows, which ended without figures. */
  readonly newer: readonly PublishedWindow[];
}

/** Finds what a server published about a window, or the newest window with figures; see `SoughtRelease`. */
export async function findRelease(
  server: string,
  task: string,
  { window, wait, onPending, token }: SoughtRelease = {},
): Promise<FoundRelease> {
  const reader = { token };
  if (window === undefined && !wait) {
    const found = await newestRelease(server, task, reader);
    if (found) return found;
  }
  const number = window ?? (await nextToFinish(server, await fetchManifest(server, task), undefined, reader)).window;
  const look = (): Promise<PublishedWindow | Pending> => lookAt(server, task, number, reader);
  return { outcome: await (wait ? waitUntilFinished(look, onPending) : look()), newer: [] };
}

const LEAST_PAUSE_SECONDS = 0.5;
const MOST_PAUSE_SECONDS = 30;

/** Looks again and again until the window is finished: the closer its end, the more often. */
export async function waitUntilFinished(
  look: () => Promise<PublishedWindow | Pending>,
  onPending: SoughtRelease["onPending"] = () => {},
): Promise<PublishedWindow> {
  for (;;) {
    const outcome = await look();
    if (outcome.status !== "pending") {
      await onPending(undefined);
      return outcome;
    }
    await onPending(outcome);
    // An admin may have closed it before its time.
    const left = outcome.state === "closed" ? 0 : outcome.closes - seconds();
    const pause = Math.min(Math.max(left / 20, LEAST_PAUSE_SECONDS), MOST_PAUSE_SECONDS);
    await new Promise((resolve) => setTimeout(resolve, 1000 * pause));
  }
}

async function lookAt(
  server: string,
  task: string,
  window: number,
  reader: Reader,
): Promise<PublishedWindow | Pending> {
  const release = await fetchRelease(server, task, window, reader);
  if (release) return release;
  const status = await fetchWindow(server, task, window, reader);
  // It may have finished between the two requests.
  return isFinished(status) ? lookAt(server, task, window, reader) : { status: "pending", ...status };
}

const MOST_PAGES = 30;
const PAGE = 10;

/**
 * The newest window with figures. If the newest 291 windows have none, the newest of them; undefined if nothing was
 * published yet.
 */
async function newestRelease(server: string, task: string, reader: Reader): Promise<FoundRelease | undefined> {
  const newer: PublishedWindow[] = [];
  for (let page = 0; page < MOST_PAGES; page++) {
    const before = newer.at(-1)?.window;
    // Releases of large tasks are large, and the first nearly always has figures.
    const limit = page === 0 ? 1 : PAGE;
    const releases = await fetchReleases(server, task, { ...reader, limit, ...(before !== undefined && { before }) });
    const at = releases.findIndex(({ status }) => status === "released" || status === "shared");
    const outcome = releases[at];
    if (outcome) return { outcome, newer: [...newer, ...releases.slice(0, at)] };
    newer.push(...releases);
    if (releases.length < limit) break;
  }
  const [newest] = newer;
  return newest && { outcome: newest, newer: [] };
}
