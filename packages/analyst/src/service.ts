import type { ReleaseOrWithheld, WindowStatus } from "@lethe/core/message";
import { parseSignedShare, parseWindowShare, type SignedShare } from "@lethe/core/two-server";
import { askJson, askStatus, notLethe, unless } from "./request.ts";

/** What one of two servers publishes about a window instead of a release. */
export interface ServerShare {
  readonly status: "shared";
  readonly window: number;
  /** Unix seconds. */
  readonly from: number;
  readonly to: number;
  /** The signature is not checked yet. */
  readonly signed: SignedShare;
}

/** What a server publishes about a finished window. */
export type PublishedWindow = ReleaseOrWithheld | ServerShare;

/** Who reads results: anybody, or with the admin token if the service keeps its results private. */
export interface Reader {
  readonly token?: string | undefined;
}

/** The state of a window. Rejects with `window-closed` for a window before the task's first. */
export function fetchWindow(
  server: string,
  task: string,
  window: number,
  { token }: Reader = {},
): Promise<WindowStatus> {
  return askJson(server, `${taskPath(task)}/windows/${window}`, { token });
}

/** What the server published about a window, or undefined if it has not done so yet. */
export async function fetchRelease(
  server: string,
  task: string,
  window: number,
  { token }: Reader = {},
): Promise<PublishedWindow | undefined> {
  const asked = askJson<unknown>(server, `${taskPath(task)}/releases/${window}`, { token });
  const found = await unless("window-not-open", asked);
  return found === undefined ? undefined : readPublished(server, found);
}

/**
 * What the server published about windows before `before`, or about all windows: at most `limit` of them, newest first.
 */
export async function fetchReleases(
  server: string,
  task: string,
  { limit, before, token }: { readonly limit: number; readonly before?: number } & Reader,
): Promise<readonly PublishedWindow[]> {
  const query = before === undefined ? `limit=${limit}` : `limit=${limit}&before=${before}`;
  const path = `${taskPath(task)}/releases?${query}`;
  const { releases } = await askJson<{ readonly releases: unknown }>(server, path, { token });
  if (!Array.isArray(releases)) throw notLethe(server);
  return releases.map((each) => readPublished(server, each));
}

/** The HTTP status with which the server answers a request for a file, such as the SDK for pages. */
export function statusOfFile(server: string, path: string): Promise<number> {
  return askStatus(server, path);
}

/** The path of a task, to which the paths of its windows and releases are appended. */
export function taskPath(task: string): string {
  return `/v1/tasks/${encodeURIComponent(task)}`;
}

const STATUSES: ReadonlySet<unknown> = new Set(["released", "not-enough", "lost", "shared"]);

/** The last second that a date can show. */
const LAST_SECOND = 8.64e12;
const isDate = (time: unknown): boolean =>
  time === undefined || (typeof time === "number" && Math.abs(time) <= LAST_SECOND);

/** As JSON, unless it is nested too deeply for that. */
function written(server: string, value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    throw notLethe(server);
  }
}

/** Of a release only the outline is checked: this reader shows what earlier and later services publish, too. */
function readPublished(server: string, found: unknown): PublishedWindow {
  const published = (found ?? {}) as ReleaseOrWithheld | { readonly status: "shared" };
  if (!STATUSES.has(published.status)) throw notLethe(server);
  if (published.status !== "shared") {
    if (![published.from, published.to].every(isDate)) throw notLethe(server);
    return published;
  }
  const signed = parseSignedShare(written(server, published));
  const { window, from, to } = parseWindowShare(signed.document);
  return { status: "shared", window, from, to, signed };
}
