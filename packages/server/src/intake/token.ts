import { hash, timingSafeEqual } from "node:crypto";

/** SHA-256: tokens are long and unguessable, so a plain hash is enough. */
export function hashOf(bytes: Uint8Array | string): Uint8Array {
  return hash("sha256", bytes, "buffer");
}

/** Whether a token is the expected one. Comparing hashes reveals nothing about where two tokens differ. */
export function isToken(given: string | undefined, expected: string): boolean {
  return given !== undefined && timingSafeEqual(hashOf(given), hashOf(expected));
}

/** Throws unless a token fits into a header, and is too long to guess. */
export function requireToken(what: string, token: string): void {
  if (!/^[\x21-\x7e]{16,500}$/.test(token)) {
    throw new RangeError(`${what} is 16 to 500 characters of printable ASCII without spaces`);
  }
}
