import { join } from "../bytes.ts";
import { requireLength } from "../error.ts";
import { headerOf, requireHeader } from "../header.ts";

/** Every binary message: version, kind, what belongs to all of it, then the parts of the statistics, one after another. */
interface BinaryMessage {
  readonly what: string;
  readonly kind: number;
  readonly preamble: number;
}

const HEADER_BYTES = 2;

export function encodeParts({ kind }: BinaryMessage, preamble: Uint8Array, parts: readonly Uint8Array[]): Uint8Array {
  return join([headerOf(kind), preamble, ...parts]);
}

export function bytesOfParts({ preamble }: BinaryMessage, lengths: readonly number[]): number {
  return lengths.reduce((sum, length) => sum + length, HEADER_BYTES + preamble);
}

/** Views into `bytes`, which is checked for length, version and kind first. */
export function decodeParts(
  message: BinaryMessage,
  lengths: readonly number[],
  bytes: Uint8Array,
): { preamble: Uint8Array; parts: Uint8Array[] } {
  requireLength(message.what, bytes, bytesOfParts(message, lengths));
  requireHeader(message.what, bytes, message.kind);
  let at = HEADER_BYTES + message.preamble;
  const preamble = bytes.subarray(HEADER_BYTES, at);
  const parts = lengths.map((length) => {
    at += length;
    return bytes.subarray(at - length, at);
  });
  return { preamble, parts };
}
