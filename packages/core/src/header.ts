import { LetheError } from "./error.ts";

/** Every binary begins with a version byte and a kind byte. */
const VERSION = 1;

export function headerOf(kind: number): Uint8Array {
  return Uint8Array.of(VERSION, kind);
}

export function requireHeader(what: string, bytes: Uint8Array, kind: number): void {
  if (bytes[0] !== VERSION || bytes[1] !== kind) {
    throw new LetheError("bad-encoding", `these bytes are not ${what} of this version`);
  }
}
