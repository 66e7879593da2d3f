import { type Pending, waitUntilTold } from "./results/wait.ts";
import { fetchManifest, fetchRelease, fetchReleases, fetchStatus, type Told } from "./service-client.ts";
import { isFinished, nextToFinish } from "./window.ts";

export interface Sought {
  readonly window?: number;
  readonly wait?: boolean;
  /** What keeps a window from being done, if anything is known to. */
  readonly hindrance?: () => Promise<string | undefined>;
}

export interface Found {
  readonly outcome: Told | Pending;
  /** Windows after that one that ended without figures. */
  readonly newer: readonly Told[];
}

/** What a service tells of a window; without one, the newest that it tells figures of, or else the next. */
export async function findOutcome(server: string, task: string, { window, wait, hindrance }: Sought): Promise<Found> {
  if (window === undefined && !wait) {
    const found = await newestRelease(server, task);
    if (found) return found;
  }
  const number = window ?? (await nextToFinish(server, await fetchManifest(server, task))).window;
  const look = (): Promise<Told | Pending> => lookAt(server, task, number);
  return { outcome: await (wait ? waitUntilTold(look, hindrance) : look()), newer: [] };
}

/** The release of a window, or how far it is. */
async function lookAt(server: string, task: string, window: number): Promise<Told | Pending> {
  const release = await fetchRelease(server, task, window);
  if (release) return release;
  const status = await fetchStatus(server, task, window);
  // Finished between the two questions.
  return isFinished(status) ? lookAt(server, task, window) : { status: "pending", ...status };
}

const MOST_PAGES = 30;
const PAGE = 10;

/** The newest with figures; if windows as far back as anyone would look have none, the newest without; undefined before any. */
async function newestRelease(server: string, task: string): Promise<Found | undefined> {
  const newer: Told[] = [];
  for (let page = 0; page < MOST_PAGES; page++) {
    const before = newer.at(-1)?.window;
    // Releases of large tasks are large, and the first is nearly always what is looked for.
    const limit = page === 0 ? 1 : PAGE;
    const releases = await fetchReleases(server, task, { limit, ...(before !== undefined && { before }) });
    const at = releases.findIndex(({ status }) => status === "released" || status === "shared");
    if (at >= 0) return { outcome: releases[at] as Told, newer: [...newer, ...releases.slice(0, at)] };
    newer.push(...releases);
    if (releases.length < limit) break;
  }
  const [newest] = newer;
  return newest && { outcome: newest, newer: [] };
}
