import { LetheError } from "@lethe/core/error";
import type { Database, Queryable } from "../storage/database.ts";
import { lockShard } from "../storage/window-shards.ts";

interface ForWindow {
  readonly windowId: number;
}

/** A result, or why this one was refused; the others of the same transaction go on. */
export type Decided<Result> = Result | LetheError;

/**
 * Decides a group of requests in one transaction, window by window. A shard of each window is locked, so that the window
 * does not close meanwhile, and in the order of ids, so that two transactions never wait for each other.
 */
export async function decidePerWindow<Item extends ForWindow, Result>(
  database: Database,
  shard: number,
  items: readonly Item[],
  decide: (
    transaction: Queryable,
    windowId: number,
    shard: number,
    items: readonly Item[],
  ) => Promise<readonly Decided<Result>[]>,
): Promise<Decided<Result>[]> {
  const windows = [...new Set(items.map(({ windowId }) => windowId))].sort((a, b) => a - b);
  const results = new Map<Item, Decided<Result>>();
  await database.transaction(async (transaction) => {
    for (const windowId of windows) {
      const ofWindow = items.filter((item) => item.windowId === windowId);
      const decided = (await lockShard(transaction, windowId, shard))
        ? await decide(transaction, windowId, shard, ofWindow)
        : ofWindow.map(() => new LetheError("window-closed", "this window is closed"));
      for (const [i, item] of ofWindow.entries()) results.set(item, decided[i] as Decided<Result>);
    }
  });
  return items.map((item) => results.get(item) as Decided<Result>);
}
