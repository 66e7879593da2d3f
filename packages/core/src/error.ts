/**
 * What went wrong at run time, as opposed to a caller's mistake (`TypeError`, `RangeError`).
 *
 * - `bad-encoding`: bytes that no honest encoder produces.
 * - `bad-task`: a task file that cannot be run; the message names the field.
 * - `undecryptable`: a ciphertext that holds no message of the scheme under this key.
 */
export type LetheErrorCode = "bad-encoding" | "bad-task" | "undecryptable";

/** The one error for run-time failures. Messages never contain secret or received bytes, but for a bad task's field. */
export class LetheError extends Error {
  readonly code: LetheErrorCode;

  constructor(code: LetheErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "LetheError";
    this.code = code;
  }
}

/** Refuses bytes of the wrong length before anything looks inside them. */
export function requireLength(what: string, bytes: Uint8Array, length: number): void {
  if (bytes.length !== length) {
    throw new LetheError("bad-encoding", `${what} has ${bytes.length} bytes instead of ${length}`);
  }
}
