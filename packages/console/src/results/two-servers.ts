import { collectLastWindows, type FinishedWindow } from "@lethe/analyst";

/**
 * The windows that two servers counted, each put together from both shares after their signatures are checked. The page
 * may ask no other origin than its own, so the leader passes on what its helper has published.
 */
export function collectWindows(leader: string, task: string, last: number): Promise<readonly FinishedWindow[]> {
  return collectLastWindows({ leader, helper: `${leader}/helper` }, task, last);
}
