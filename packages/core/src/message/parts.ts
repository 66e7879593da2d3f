import { join, splitInto } from "../bytes.ts";
import { requireLength } from "../error.ts";
import { headerOf, requireHeader } from "../header.ts";

/**
 * Every binary message: version, kind, what belongs to all of it, then the parts of the statistics, one after another.
 */
interface BinaryMessage {
  readonly what: string;
  readonly kind: number;
  readonly preamble: number;
}

const HEADER_BYTES = 2;

/** The bytes of such a message. */
export function encodeParts({ kind }: BinaryMessage, preamble: Uint8Array, parts: readonly Uint8Array[]): Uint8Array {
  return join([headerOf(kind), preamble, ...parts]);
}

/** How many bytes such a message has. */
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
  const [preamble, ...parts] = splitInto(bytes.subarray(HEADER_BYTES), [message.preamble, ...lengths]);
  return { preamble: preamble as Uint8Array, parts };
}
