import { setTimeout as sleep } from "node:timers/promises";
import type { WindowStatus } from "@lethe/core/message";
import { describeState } from "./results-text.ts";
import type { Told } from "./service-client.ts";

const LEAST_PAUSE = 0.5;
const MOST_PAUSE = 30;

/** A window that is still to tell. */
export type Pending = { readonly status: "pending" } & WindowStatus;

/** Looks until a window is done, and says on stderr how far it is. */
export async function waitUntilTold(look: () => Promise<Told | Pending>): Promise<Told> {
  const show = createStatusLine();
  for (;;) {
    const outcome = await look();
    if (outcome.status !== "pending") {
      show(undefined);
      return outcome;
    }
    show(outcome);
    // It may have been closed before its time.
    const left = outcome.state === "closed" ? 0 : outcome.closes - Date.now() / 1000;
    await sleep(1000 * Math.min(Math.max(left / 20, LEAST_PAUSE), MOST_PAUSE));
  }
}

/** On a terminal it rewrites itself; elsewhere a line comes whenever the window's state changes. */
function createStatusLine(): (status: WindowStatus | undefined) => void {
  let last = "";
  return (status) => {
    if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${status ? describeState(status) : ""}`);
    else if (status && status.state !== last) process.stderr.write(`${describeState(status)}\n`);
    last = status?.state ?? "";
  };
}
