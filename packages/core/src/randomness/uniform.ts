import type { Randomness } from "./randomness.ts";

/** The largest bound of `uniformBelow`: six bytes, exact in a double. */
const LARGEST_BOUND = 2 ** 48;

/**
 * A uniform integer in [0, bound), by rejection below the next power of two. How often it draws depends on
 * rejected values only, never on the one returned.
 */
export function uniformBelow(random: Randomness, bound: number): number {
  if (!Number.isInteger(bound) || bound < 1 || bound > LARGEST_BOUND) {
    throw new RangeError(`a uniform integer needs a bound from 1 to 2^48, not ${bound}`);
  }
  return Number(uniformBelowBig(random, BigInt(bound)));
}

/** `uniformBelow` for bounds of any size. */
export function uniformBelowBig(random: Randomness, bound: bigint): bigint {
  if (bound < 1n) throw new RangeError(`a uniform integer needs a bound of at least 1, not ${bound}`);
  if (bound === 1n) return 0n;
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
