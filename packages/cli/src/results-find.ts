import type { Release, ReleaseOrWithheld, WindowStatus } from "@lethe/core/message";
import { fetchRelease, fetchReleases, fetchStatus } from "./service-client.ts";
import { isFinished } from "./window.ts";

/** A release, why there is none, or the window that is still to tell. */
export type Outcome = ReleaseOrWithheld | ({ readonly status: "pending" } & WindowStatus);

export interface Found {
  readonly outcome: Outcome;
  /** Windows after that one that ended without figures. */
  readonly newer: readonly ReleaseOrWithheld[];
}

/** The release of a window, or how far it is. */
export async function lookAt(server: string, task: string, window: number): Promise<Outcome> {
  const release = await fetchRelease(server, task, window);
  if (release) return release;
  const status = await fetchStatus(server, task, window);
  // Finished between the two questions.
  return isFinished(status) ? lookAt(server, task, window) : { status: "pending", ...status };
}

const MOST_PAGES = 30;
const PAGE = 10;

/** The newest with figures; if windows as far back as anyone would look have none, the newest without; undefined before any. */
export async function newestRelease(server: string, task: string): Promise<Found | undefined> {
  const newer: ReleaseOrWithheld[] = [];
  for (let page = 0; page < MOST_PAGES; page++) {
    const before = newer.at(-1)?.window;
    // Releases of large tasks are large, and the first is nearly always what is looked for.
    const limit = page === 0 ? 1 : PAGE;
    const releases = await fetchReleases(server, task, { limit, ...(before !== undefined && { before }) });
    const at = releases.findIndex(({ status }) => status === "released");
    if (at >= 0) return { outcome: releases[at] as Release, newer: [...newer, ...releases.slice(0, at)] };
    newer.push(...releases);
    if (releases.length < limit) break;
  }
  const [newest] = newer;
  return newest && { outcome: newest, newer: [] };
}
