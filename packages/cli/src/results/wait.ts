import type { Pending } from "@lethe/analyst";
import { describeState } from "./text.ts";

/**
 * A line on stderr with the state of a window while a command waits for it, and with what `hindrance` returns if
 * something keeps the window from being finished. On a terminal the line rewrites itself; elsewhere a new line follows
 * when either changes. Call it with undefined when the window is finished.
 */
export function createStatusLine(
  hindrance: () => Promise<string | undefined> = async () => undefined,
): (pending: Pending | undefined) => Promise<void> {
  let last = "";
  return async (pending) => {
    const why = pending && (await hindrance());
    const line = pending ? withHindrance(describeState(pending), why) : "";
    const kind = `${pending?.state} ${why}`;
    if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${line}`);
    else if (pending && kind !== last) process.stderr.write(`${line}\n`);
    last = kind;
  };
}

/** The state of a window, and what hinders it if anything does. */
export function withHindrance(state: string, hindrance: string | undefined): string {
  return hindrance === undefined ? state : `${state}; ${hindrance}`;
}
