import { LetheError, requireLength } from "../error.ts";
import { join } from "../statistic/concatenation.ts";

/** Every binary message: version, kind, what belongs to all of it, then the parts of the statistics, one after another. */
interface BinaryMessage {
  readonly what: string;
  readonly kind: number;
  readonly preamble: number;
}

const VERSION = 1;
const HEADER_BYTES = 2;

export function encodeParts({ kind }: BinaryMessage, preamble: Uint8Array, parts: readonly Uint8Array[]): Uint8Array {
  return join([Uint8Array.of(VERSION, kind), preamble, ...parts]);
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
  if (bytes[0] !== VERSION || bytes[1] !== message.kind) {
    throw new LetheError("bad-encoding", `these bytes are not ${message.what} of this version`);
  }
  let at = HEADER_BYTES + message.preamble;
  const preamble = bytes.subarray(HEADER_BYTES, at);
  const parts = lengths.map((length) => {
    at += length;
    return bytes.subarray(at - length, at);
  });
  return { preamble, parts };
}
