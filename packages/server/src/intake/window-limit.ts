import { LetheError } from "@lethe/core/error";
import type { WindowRow } from "../storage/windows.ts";
import type { Decided } from "./per-window.ts";

/** Passes as many requests to `decide` as the locked window has places for; the others are refused. */
export async function withinWindow<Item, Result>(
  mostPerWindow: number,
  { enrolled }: Pick<WindowRow, "enrolled">,
  requests: readonly Item[],
  decide: (admitted: readonly Item[]) => Promise<readonly Decided<Result>[]>,
): Promise<Decided<Result>[]> {
  const places = Math.max(0, mostPerWindow - enrolled);
  const decided = places === 0 ? [] : await decide(requests.slice(0, places));
  const refused = requests
    .slice(places)
    .map(() => new LetheError("rate-limited", `at most ${mostPerWindow} devices enrol in a window, and it has them`));
  return [...decided, ...refused];
}
