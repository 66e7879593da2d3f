import { setTimeout as sleep } from "node:timers/promises";
import type { ReleaseOrWithheld, WindowStatus } from "@lethe/core/message";
import { lookAt } from "./results-find.ts";
import { describeState } from "./results-text.ts";

const LEAST_PAUSE = 0.5;
const MOST_PAUSE = 30;

/** Asks until a window is released or withheld, and says on stderr how far it is. */
export async function waitForRelease(server: string, task: string, window: number): Promise<ReleaseOrWithheld> {
  const show = createStatusLine();
  for (;;) {
    const outcome = await lookAt(server, task, window);
    if (outcome.status !== "pending") {
      show(undefined);
      return outcome;
    }
    show(outcome);
    const left = outcome.closes - Date.now() / 1000;
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
