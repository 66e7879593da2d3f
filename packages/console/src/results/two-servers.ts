import { collectLastWindows, type FinishedWindow, fetchManifest } from "@lethe/analyst";

/** The windows that two servers counted, each put together from both shares after their signatures are checked. */
export async function collectWindows(server: string, task: string, last: number): Promise<readonly FinishedWindow[]> {
  const { servers } = await fetchManifest(server, task);
  return collectLastWindows({ leader: server, helper: servers[1]?.url ?? server }, task, last);
}
