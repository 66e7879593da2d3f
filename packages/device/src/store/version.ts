import { join, xof } from "@lethe/core/device";

const CHECK_BYTES = 16;
const HEAD_BYTES = CHECK_BYTES + 16;

/** A record as one of several places keeps it. Of two versions the one with the higher generation was saved later. */
export interface Version {
  readonly generation: number;
  readonly record: Uint8Array;
}

/**
 * A check over all that follows; the generation and the record's length, 64 bits each; the record. The check is not
 * secret: it shows that a version is complete, not who wrote it.
 */
export function encodeVersion({ generation, record }: Version): Uint8Array {
  const content = join([new Uint8Array(Float64Array.of(generation, record.length).buffer), record]);
  return join([checkOf(content), content]);
}

/**
 * Undefined unless the bytes begin with a complete version: not if it is cut off, written half-way, or mixed from two.
 * Bytes that a longer version left behind it are ignored.
 */
export function decodeVersion(bytes: Uint8Array): Version | undefined {
  if (bytes.length < HEAD_BYTES) return undefined;
  const [generation, length] = new Float64Array(bytes.slice(CHECK_BYTES, HEAD_BYTES).buffer) as unknown as [
    number,
    number,
  ];
  const content = bytes.slice(CHECK_BYTES, HEAD_BYTES + length);
  const record = bytes.slice(HEAD_BYTES, HEAD_BYTES + length);
  // A length is exact: a program may have written one that is negative, or no number, and the right check for it.
  if (!Object.is(record.length, length) || checkOf(content).some((byte, i) => byte !== bytes[i])) return undefined;
  return { generation, record };
}

function checkOf(content: Uint8Array): Uint8Array {
  const check = new Uint8Array(CHECK_BYTES);
  xof("lethe version", content)(check);
  return check;
}
