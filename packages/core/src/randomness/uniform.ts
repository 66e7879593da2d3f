import { requireWhole } from "../error.ts";
import type { Randomness } from "./randomness.ts";

/** The largest bound of `uniformBelow`: six bytes, exact in a double. */
export const LARGEST_BOUND: number = 2 ** 48;
const scratch = Array.from({ length: 7 }, (_, length) => new Uint8Array(length));

/**
 * A uniform integer in [0, bound), by rejection below the next power of two. How often it draws depends on
 * rejected values only, never on the one returned.
 */
export function uniformBelow(random: Randomness, bound: number): number {
  requireWhole("a bound", bound, 1, LARGEST_BOUND);
  const bits = bitLength(bound - 1);
  const bytes = scratch[Math.ceil(bits / 8)] as Uint8Array;
  const topMask = 0xff >> (8 * bytes.length - bits);
  for (;;) {
    random(bytes);
    let value = 0;
    for (let i = 0; i < bytes.length; i++) value = 256 * value + ((bytes[i] as number) & (i === 0 ? topMask : 0xff));
    if (value < bound) {
      bytes.fill(0);
      return value;
    }
  }
}

/** Bits of an integer from 0 to 2⁴⁸. */
function bitLength(value: number): number {
  const high = Math.floor(value / 2 ** 32);
  return high > 0 ? 64 - Math.clz32(high) : 32 - Math.clz32(value);
}
