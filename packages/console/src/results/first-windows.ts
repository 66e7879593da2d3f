import { fetchManifest, unfinishedWindows } from "@lethe/analyst";
import type { WindowStatus } from "@lethe/core/message";
import type { Source } from "./fetch.ts";

/** The windows of a task that has published nothing yet, oldest first, up to the running one. */
export async function firstWindows({ server, token, task }: Source, now: number): Promise<readonly WindowStatus[]> {
  const found = await unfinishedWindows(server, await fetchManifest(server, task), now, { token });
  const begun = found.filter(({ from }) => from <= now);
  return (begun.length > 0 ? begun : found).toReversed();
}
