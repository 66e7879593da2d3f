import { collectLastWindows, type FinishedWindow } from "@lethe/analyst";
import type { Source } from "./fetch.ts";

/**
 * The windows that two servers counted, each put together from both shares after their signatures are checked. The page
 * may ask no other origin than its own, so the leader passes on what its helper has published.
 */
export function collectWindows({ server, token, task }: Source, last: number): Promise<readonly FinishedWindow[]> {
  const tokens = { leaderToken: token, helperToken: token };
  return collectLastWindows({ leader: server, helper: `${server}/helper`, ...tokens }, task, last);
}
