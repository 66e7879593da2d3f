import { fetchManifest, unfinishedWindows } from "@lethe/analyst";
import type { WindowStatus } from "@lethe/core/message";

/** The windows of a task that has published nothing yet, oldest first, up to the running one. */
export async function firstWindows(server: string, task: string, now: number): Promise<readonly WindowStatus[]> {
  const found = await unfinishedWindows(server, await fetchManifest(server, task), now);
  const begun = found.filter(({ from }) => from <= now);
  return (begun.length > 0 ? begun : found).toReversed();
}
