import { LetheError } from "./error.ts";

/** Every binary begins with a version byte and a kind byte. */
const VERSION = 1;

/** The first two bytes of a binary message of this kind. */
export function headerOf(kind: number): Uint8Array {
  return Uint8Array.of(VERSION, kind);
}

/** Refuses bytes that do not begin with the header of this kind, with a `bad-encoding` error. */
export function requireHeader(what: string, bytes: Uint8Array, kind: number): void {
  if (bytes[0] !== VERSION || bytes[1] !== kind) {
    throw new LetheError("bad-encoding", `these bytes are not ${what} of this version`);
  }
}
