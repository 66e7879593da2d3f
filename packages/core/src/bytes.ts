/** All parts, one after another. */
export function join(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/**
 * The inverse for parts of these lengths: views into the bytes. Bytes after the last part are left out, and the caller
 * has checked the length.
 */
export function splitInto(bytes: Uint8Array, lengths: readonly number[]): Uint8Array[] {
  let at = 0;
  return lengths.map((length) => {
    at += length;
    return bytes.subarray(at - length, at);
  });
}

/** The inverse for parts of equal length; the caller has checked the length of the whole. */
export function split(bytes: Uint8Array, parts: number): Uint8Array[] {
  const size = bytes.length / parts;
  return Array.from({ length: parts }, (_, i) => bytes.subarray(i * size, (i + 1) * size));
}

/** Whether they have the same length and content. Takes longer the more they have in common: not for secrets. */
export function isSameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}
