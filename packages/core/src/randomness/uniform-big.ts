import type { Randomness } from "./randomness.ts";
import { LARGEST_BOUND, uniformBelow } from "./uniform.ts";

/** `uniformBelow` for bounds of any size. In a separate file because not every device needs it. */
export function uniformBelowBig(random: Randomness, bound: bigint): bigint {
  if (bound <= LARGEST_BOUND) return BigInt(uniformBelow(random, Number(bound)));
  const bits = (bound - 1n).toString(2).length;
  const bytes = new Uint8Array(Math.ceil(bits / 8));
  const topMask = 0xff >> (8 * bytes.length - bits);
  for (;;) {
    random(bytes);
    bytes[0] = (bytes[0] as number) & topMask;
    let value = 0n;
    for (const byte of bytes) value = (value << 8n) | BigInt(byte);
    if (value < bound) {
      bytes.fill(0);
      return value;
    }
  }
}
