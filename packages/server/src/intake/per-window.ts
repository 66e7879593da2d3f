import { LetheError } from "@lethe/core/error";
import type { Database, Queryable } from "../storage/database.ts";
import { lockWindow, type WindowRow } from "../storage/windows.ts";

interface ForWindow {
  readonly windowId: number;
}

/** A result, or why this one was refused; the others of the same transaction go on. */
export type Decided<Result> = Result | LetheError;

/**
 * Decides a group of requests in one transaction, window by window. Each window is locked, so that it does not close
 * meanwhile, and in the order of ids, so that two processes never wait for each other.
 */
export async function decidePerWindow<Item extends ForWindow, Result>(
  database: Database,
  items: readonly Item[],
  decide: (
    transaction: Queryable,
    windowId: number,
    items: readonly Item[],
    window: WindowRow,
  ) => Promise<readonly Decided<Result>[]>,
): Promise<Decided<Result>[]> {
  const windows = [...new Set(items.map(({ windowId }) => windowId))].sort((a, b) => a - b);
  const results = new Map<Item, Decided<Result>>();
  await database.transaction(async (transaction) => {
    for (const windowId of windows) {
      const ofWindow = items.filter((item) => item.windowId === windowId);
      const window = await lockWindow(transaction, windowId);
      const decided =
        window.state === "collecting"
          ? await decide(transaction, windowId, ofWindow, window)
          : ofWindow.map(() => new LetheError("window-closed", "this window is closed"));
      for (const [i, item] of ofWindow.entries()) results.set(item, decided[i] as Decided<Result>);
    }
  });
  return items.map((item) => results.get(item) as Decided<Result>);
}
