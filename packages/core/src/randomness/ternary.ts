import type { Randomness } from "./randomness.ts";

/** 3⁵ = 243 of the 256 values of a byte give five digits; the other 13 are drawn again. */
const DIGITS_PER_BYTE = 5;
const ACCEPTED = 3 ** DIGITS_PER_BYTE;

/**
 * Adds an independent uniform element of {−1, 0, 1} to every entry of `sums`. Exact: a byte reduced modulo 3
 * would favour one value, and the key holder would see it. Which bytes are rejected tells nothing about the
 * digits of the others.
 */
export function addTernary(random: Randomness, sums: Int32Array): void {
  let i = 0;
  while (i < sums.length) {
    const needed = Math.ceil((sums.length - i) / DIGITS_PER_BYTE);
    // 243/256 of the bytes are accepted; with 15% more than needed a second draw is rare.
    const bytes = new Uint8Array(Math.ceil(needed * 1.15));
    random(bytes);
    for (let b = 0; b < bytes.length && i < sums.length; b++) {
      let rest = bytes[b] as number;
      if (rest >= ACCEPTED) continue;
      const end = Math.min(i + DIGITS_PER_BYTE, sums.length);
      for (; i < end; i++) {
        const quotient = (rest * 171) >>> 9; // ⌊rest / 3⌋ for rest < 512
        sums[i] = (sums[i] as number) + (rest - 3 * quotient) - 1;
        rest = quotient;
      }
    }
    bytes.fill(0);
  }
}
