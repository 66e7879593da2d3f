import { LetheError } from "@lethe/core/error";
import type { ReleaseOrWithheld } from "@lethe/core/message";
import { type AssembleOptions, assemble, type ServerPair } from "./assemble.ts";
import { findRelease, type Pending, type SoughtRelease } from "./find.ts";
import { lastWindows, type UnreleasedWindow } from "./last-windows.ts";
import { fetchManifest } from "./manifest.ts";
import { fetchRelease, type ServerShare } from "./service.ts";

/** Which window to collect, and what to do about missing keys. */
export interface CollectOptions extends SoughtRelease, AssembleOptions {}

/**
 * The release of a window that two servers counted: fetches both shares and assembles them, see `assemble`. If there is
 * no release, returns the server's reason, or the state of the window.
 */
export async function collectRelease(
  servers: ServerPair,
  task: string,
  options: CollectOptions = {},
): Promise<ReleaseOrWithheld | Pending> {
  const { outcome: first } = await findRelease(servers.leader, task, options);
  if (first.status !== "shared") return first;
  const { window } = first;
  const { outcome: second } = await findRelease(servers.helper, task, { ...options, window });
  if (second.status !== "shared") return second;
  return assemble(servers, task, window, first.signed, second.signed, options);
}

/**
 * The last windows of two servers, as `lastWindows` returns them, with the releases that their shares give together; see
 * `assemble`. A window about which the helper has published nothing yet is `not-released`.
 */
export async function collectLastWindows(
  servers: ServerPair,
  task: string,
  count: number,
  options: AssembleOptions = {},
): Promise<readonly (ReleaseOrWithheld | UnreleasedWindow)[]> {
  const found: (ReleaseOrWithheld | UnreleasedWindow)[] = [];
  for (const each of await lastWindows(servers.leader, task, count, { token: servers.leaderToken })) {
    found.push(each.status === "shared" ? await collectShared(servers, task, each, options) : each);
  }
  return found;
}

async function collectShared(
  servers: ServerPair,
  task: string,
  { window, from, to, signed }: ServerShare,
  options: AssembleOptions,
): Promise<ReleaseOrWithheld | UnreleasedWindow> {
  const other = await fetchRelease(servers.helper, task, window, { token: servers.helperToken });
  if (other?.status === "shared") return assemble(servers, task, window, signed, other.signed, options);
  return other ?? { status: "not-released", task, window, from, to };
}

/** Why a leader cannot finish a window, if the reason is that its helper does not answer; undefined if it does. */
export async function helperHindrance({ helper }: ServerPair, task: string): Promise<string | undefined> {
  try {
    await fetchManifest(helper, task);
    return undefined;
  } catch (error) {
    if (!(error instanceof LetheError)) throw error;
    // A refusal is an answer.
    return NO_ANSWER.has(error.code) ? `the helper at ${helper} does not answer` : undefined;
  }
}

const NO_ANSWER: ReadonlySet<string> = new Set([
  "bad-answer",
  // There is a service, but not the helper: the path is wrong.
  "bad-role",
  "redirected",
  "service-failed",
  "unavailable",
  "unreachable",
]);
