import { LetheError } from "@lethe/core/error";
import type { ReleaseOrWithheld } from "@lethe/core/message";
import { type AssembleOptions, assemble, type ServerPair } from "./assemble.ts";
import { findRelease, type Pending, type SoughtRelease } from "./find.ts";
import { fetchManifest } from "./service.ts";

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
