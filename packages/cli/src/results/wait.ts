import { setTimeout as sleep } from "node:timers/promises";
import type { WindowStatus } from "@lethe/core/message";
import type { Told } from "../service-client.ts";
import { describeState } from "./text.ts";

const LEAST_PAUSE = 0.5;
const MOST_PAUSE = 30;

/** A window that is still to tell. */
export type Pending = { readonly status: "pending" } & WindowStatus;

/** Looks until a window is done, and says on stderr how far it is; `hindrance` is what keeps it from being done, if anything is known to. */
export async function waitUntilTold(
  look: () => Promise<Told | Pending>,
  hindrance: () => Promise<string | undefined> = async () => undefined,
): Promise<Told> {
  const show = createStatusLine();
  for (;;) {
    const outcome = await look();
    if (outcome.status !== "pending") {
      show();
      return outcome;
    }
    show(outcome, await hindrance());
    // It may have been closed before its time.
    const left = outcome.state === "closed" ? 0 : outcome.closes - Date.now() / 1000;
    await sleep(1000 * Math.min(Math.max(left / 20, LEAST_PAUSE), MOST_PAUSE));
  }
}

/** On a terminal it rewrites itself; elsewhere a line comes whenever the window's state changes, or what hinders it. */
function createStatusLine(): (status?: WindowStatus, hindrance?: string) => void {
  let last = "";
  return (status, hindrance) => {
    const line = status ? withHindrance(describeState(status), hindrance) : "";
    const kind = `${status?.state} ${hindrance}`;
    if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${line}`);
    else if (status && kind !== last) process.stderr.write(`${line}\n`);
    last = kind;
  };
}

export function withHindrance(state: string, hindrance: string | undefined): string {
  return hindrance === undefined ? state : `${state}; ${hindrance}`;
}
