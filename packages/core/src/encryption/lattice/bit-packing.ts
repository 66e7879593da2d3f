/** Bytes that `count` integers of `bits` bits take. */
export function packedBytes(count: number, bits: number): number {
  return Math.ceil((count * bits) / 8);
}

/**
 * Writes `values`, each in [0, 2^bits), bits ≤ 25, one after another, least significant bit first, from byte
 * `offset` on; the bits left over in the last byte are zero. Returns the offset behind them.
 */
export function packBits(values: Int32Array, bits: number, into: Uint8Array, offset: number): number {
  let pending = 0;
  let pendingBits = 0;
  let at = offset;
  for (let i = 0; i < values.length; i++) {
    pending |= (values[i] as number) << pendingBits; // at most 7 + 25 bits
    pendingBits += bits;
    while (pendingBits >= 8) {
      into[at++] = pending & 0xff;
      pending >>>= 8;
      pendingBits -= 8;
    }
  }
  if (pendingBits > 0) into[at++] = pending;
  return at;
}

/**
 * Reads what `packBits` wrote, filling `values`, whatever the bits left over in the last byte are. There are four bytes at
 * the least. Returns the offset behind them.
 */
export function unpackBits(bytes: Uint8Array, offset: number, bits: number, values: Int32Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const mask = 2 ** bits - 1;
  const last = bytes.length - 4;
  for (let i = 0; i < values.length; i++) {
    const bit = 8 * offset + i * bits;
    // The four bytes from here on hold all of the value: at most 7 + 25 bits, or up to the end.
    const at = Math.min(bit >> 3, last);
    values[i] = (view.getUint32(at, true) >>> (bit - 8 * at)) & mask;
  }
  return offset + packedBytes(values.length, bits);
}
