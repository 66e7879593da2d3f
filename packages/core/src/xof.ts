import { type ByteStream, turboShake128 } from "./turboshake.ts";

/** Domain separation byte of TurboSHAKE128 for everything of Lethe's own (VDAF, §7, uses 0x01). */
const DOMAIN = 0x1f;

/**
 * TurboSHAKE128 of a label and parts, each preceded by its length, so that no two different inputs are
 * hashed alike. With a uniform key of 16 bytes or more as the first part it is a pseudo-random function.
 */
export function xof(label: string, ...parts: readonly Uint8Array[]): ByteStream {
  return turboShake128(DOMAIN, lengthPrefixed([asciiBytes(label), ...parts]));
}

/** Each part after its length: joined, no two lists give the same bytes. */
export function lengthPrefixed(parts: readonly Uint8Array[]): Uint8Array[] {
  return parts.flatMap((part) => [lengthPrefix(part.length), part]);
}

function lengthPrefix(length: number): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, length, true);
  return bytes;
}

/** The bytes of a string of printable ASCII, which names and labels are made of. */
export function asciiBytes(text: string): Uint8Array {
  if (!/^[\x20-\x7e]*$/.test(text)) throw new TypeError("a label is printable ASCII");
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}
