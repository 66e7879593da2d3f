/**
 * The truth that a demonstration knows, because it simulates the devices: what really happened in every window, and what
 * happens in the running one. `live.ts` fetches it again and again, `truth.ts` looks figures up, `live-strip.tsx` shows
 * the running window. May import `shell` and `format`. Start reading here.
 */
import { type Demonstration, fetchDemonstration, fetchWindow } from "@lethe/analyst";
import type { WindowStatus } from "@lethe/core/message";
import { useEffect } from "preact/hooks";
import { lastOf, useLoaded } from "../shell/load.ts";

/** A demonstration and the service that it shows, at the same moment. */
export interface Live {
  readonly demonstration: Demonstration;
  /** What the service says about the running window. */
  readonly service?: WindowStatus;
  /** The service does not answer any more; the rest is what was known last. */
  readonly hasEnded: boolean;
}

/** Windows pass in seconds, because the clock is simulated. */
const PAUSE_MS = 1000;

/** What is known of the demonstration of a task: none, one that has not answered yet, or all of it. */
export type Known = "no-demonstration" | "loading" | Live;

/**
 * Follows the demonstration of a task, if the service is that of a demonstration. Calls `onReleased` when a window has
 * been released that was not before.
 */
export function useLive(
  { server, task }: { readonly server: string; readonly task: string },
  isDemonstration: boolean,
  onReleased: () => void,
): Known {
  const loaded = useLoaded(() => fetchLive(server, task, isDemonstration), [server, task, isDemonstration], {
    ...(isDemonstration && { everyMilliseconds: PAUSE_MS }),
  });
  const { value: found } = lastOf(loaded);
  const window = found?.demonstration.running?.window;
  const isReleased = found?.service?.state === "released";
  useEffect(() => {
    if (window !== undefined) onReleased();
  }, [window, isReleased]);
  if (found) return { ...found, hasEnded: loaded.state === "failed" && loaded.failure.code === "unreachable" };
  return isDemonstration && loaded.state !== "there" ? "loading" : "no-demonstration";
}

type Found = Omit<Live, "hasEnded">;

/** Undefined if there is no demonstration, or if it is about another task. */
async function fetchLive(server: string, task: string, isDemonstration: boolean): Promise<Found | undefined> {
  if (!isDemonstration) return undefined;
  const demonstration = await fetchDemonstration(server);
  if (demonstration.task !== task) return undefined;
  const { running } = demonstration;
  return { demonstration, ...(running && { service: await fetchWindow(server, task, running.window) }) };
}
