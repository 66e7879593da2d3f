import { type ByteStream, type Permutation, turboShake128 } from "./turboshake.ts";

/** Domain separation byte of TurboSHAKE128 for everything of Lethe's own (VDAF, §7, uses 0x01). */
const DOMAIN = 0x1f;

/**
 * TurboSHAKE128 of a label and parts, each preceded by its length, so that no two different inputs are
 * hashed alike. With a uniform key of 16 bytes or more as the first part it is a pseudo-random function.
 */
export const xof: Xof = xofOn();

/** A hash function with an endless stream of bytes as its value. */
export type Xof = (label: string, ...parts: readonly Uint8Array[]) => ByteStream;

/** The same function, computed with another implementation of the permutation. */
export function xofOn(permutation?: Permutation): Xof {
  return (label, ...parts) => turboShake128(DOMAIN, lengthPrefixed([asciiBytes(label), ...parts]), permutation);
}

/** Each part after its length: joined, no two lists give the same bytes. */
export function lengthPrefixed(parts: readonly Uint8Array[]): Uint8Array[] {
  return parts.flatMap((part) => [lengthPrefix(part.length), part]);
}

function lengthPrefix(length: number): Uint8Array {
  return Uint8Array.of(length, length >> 8, length >> 16, length >> 24);
}

/** The bytes of a string of printable ASCII, which names and labels are made of. */
export function asciiBytes(text: string): Uint8Array {
  if (!/^[\x20-\x7e]*$/.test(text)) throw new TypeError("a label is printable ASCII");
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}
