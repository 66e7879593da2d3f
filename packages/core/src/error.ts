/**
 * What went wrong at run time, as opposed to a caller's mistake (`TypeError`, `RangeError`).
 *
 * - `bad-encoding`: bytes or text that no honest encoder produces.
 * - `bad-task`: a task that cannot be run; the message names the field.
 * - `bad-signature`: not signed by the key that was expected.
 * - `undecryptable`: a ciphertext that holds no message of the scheme under this key.
 * - `bad-answer`: what answers at an address is not a Lethe service, or one that breaks its interface.
 * - `bad-data-folder`, `bad-database`, `bad-key-file`: what a server keeps is not, or no longer, what it can work with.
 * - `bad-proof`: shares of something that is no bit.
 * - `bad-share`: shares of two servers that do not belong together, or are not theirs.
 * - `bad-role`: a process of a service that is asked for what its role does not do, or lacks what it needs.
 * - `bad-state`: what a device stored cannot be used; it starts again without it.
 * - `bad-store`: where a device keeps its record cannot be read or written; the message says what to do.
 * - `budget-spent`: a device did not send a report, because it would have spent more than its budget.
 * - `clocks-apart`: the clocks of leader and helper differ, or a server's own clock is in doubt.
 * - `events-dropped`: a device did not count events, or will not: there was no room, no write left, or no window yet.
 * - `service-failed`, `unavailable`: a service answers with an error of its own (5xx), or that it cannot serve now (503).
 * - `task-differs`, `verify-key-differs`, `reports-differ`: what else leader and helper do not agree about.
 * - `redirected`: an address answers with a redirect, which no client follows; the message names the target.
 * - `unknown-metric`: an event whose name is not in the task.
 * - `unreachable`: the service did not answer, or answered with an error that is not a refusal.
 * - the rest are a service's refusals; `message/problem.ts` says which HTTP status each has.
 */
export type LetheErrorCode =
  | "bad-answer"
  | "bad-data-folder"
  | "bad-database"
  | "bad-encoding"
  | "bad-key-file"
  | "bad-proof"
  | "bad-role"
  | "bad-share"
  | "bad-signature"
  | "bad-state"
  | "bad-store"
  | "bad-task"
  | "budget-spent"
  | "clocks-apart"
  | "events-dropped"
  | "no-keys-left"
  | "rate-limited"
  | "redirected"
  | "report-differs"
  | "reports-differ"
  | "service-failed"
  | "task-differs"
  | "unauthorized"
  | "unavailable"
  | "undecryptable"
  | "unknown-device"
  | "unknown-metric"
  | "unknown-task"
  | "unreachable"
  | "verify-key-differs"
  | "window-closed"
  | "window-not-open"
  | "wrong-size"
  | "wrong-type";

/**
 * The one error for run-time failures. Messages never contain secret or received bytes, but for a bad task's field and
 * a redirect's target.
 */
export class LetheError extends Error {
  readonly code: LetheErrorCode;

  constructor(code: LetheErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "LetheError";
    this.code = code;
  }
}

/**
 * Refuses what is no integer, or is out of range: a caller's mistake. One sentence for all, since every device loads
 * it.
 */
export function requireWhole(what: string, value: number, least: number, most: number): void {
  if (!Number.isInteger(value) || value < least || value > most) {
    throw new RangeError(`${what} is a whole number from ${least} to ${most}, not ${value}`);
  }
}

/** Refuses bytes of the wrong length before anything looks inside them. */
export function requireLength(what: string, bytes: Uint8Array, length: number): void {
  if (bytes.length !== length) {
    throw new LetheError("bad-encoding", `${what} has ${bytes.length} bytes instead of ${length}`);
  }
}
