import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * How a process signals the others that share its folder that consent is withdrawn: by empty files.
 *
 * `withdrawn` exists from the withdrawal until the record is removed under the lock. The process that writes looks for
 * it every second, and ends. A process that waits for the lock leaves a ticket, `waiting.…`; a withdrawal removes the
 * ticket, and the process ends when it misses it. A process that is killed leaves its ticket until the next withdrawal.
 */

const TICKET = "waiting.";

/** Seen by the one that writes, from now on. Those that wait lose their tickets. */
export function withdraw(folder: string): void {
  writeFileSync(join(folder, "withdrawn"), "", { mode: 0o600 });
  for (const name of readdirSync(folder)) if (name.startsWith(TICKET)) rmSync(join(folder, name), { force: true });
}

/** Whether somebody waits for a record to be removed. */
export function isWithdrawn(folder: string): boolean {
  return existsSync(join(folder, "withdrawn"));
}

/** When the record is removed. */
export function endWithdrawal(folder: string): void {
  rmSync(join(folder, "withdrawn"), { force: true });
}

/** Of a process that waits for the lock. */
export interface Ticket {
  /** False if consent was withdrawn since it was taken. */
  isValid(): boolean;
  remove(): void;
}

/** Removed at the latest when the process exits, unless it is killed. */
export function takeTicket(folder: string): Ticket {
  const path = join(folder, TICKET + randomBytes(8).toString("hex"));
  const remove = (): void => {
    process.off("exit", remove);
    rmSync(path, { force: true });
  };
  writeFileSync(path, "", { mode: 0o600 });
  process.once("exit", remove);
  return { isValid: () => existsSync(path), remove };
}
