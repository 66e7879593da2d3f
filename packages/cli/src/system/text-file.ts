import { closeSync, openSync, readSync } from "node:fs";

const MOST_BYTES = 1_000_000;

/**
 * Reads a text file. Throws a `RangeError` that says what is wrong, without the path. `what` is, for example, "a task
 * file".
 */
export function readTextFile(path: string, what: string): string {
  const bytes = readBytes(path);
  if (bytes.length > MOST_BYTES) throw new RangeError(`${what} must have at most 1 MB`);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new RangeError(`${what} must be text in UTF-8`);
  }
}

/** Reads at most one byte more than is allowed, because a device or a pipe may never end. */
function readBytes(path: string): Uint8Array {
  const bytes = new Uint8Array(MOST_BYTES + 1);
  let length = 0;
  try {
    const file = openSync(path, "r");
    try {
      for (let read = 1; read > 0 && length < bytes.length; length += read) {
        read = readSync(file, bytes, { offset: length });
      }
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw new RangeError(whyUnusable(error as NodeJS.ErrnoException));
  }
  return bytes.subarray(0, length);
}

/** Why the system does not read a file, in words. */
export function whyUnusable({ code }: NodeJS.ErrnoException): string {
  if (code === "ENOENT") return "there is no such file";
  if (code === "EISDIR") return "this is a directory, not a file";
  if (code === "EACCES" || code === "EPERM") return "this file may not be read";
  return `this file cannot be read (${code})`;
}
