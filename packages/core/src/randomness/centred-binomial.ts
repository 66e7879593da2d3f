import type { Randomness } from "./randomness.ts";

/** η: a sample is the difference of two sums of 21 fair bits. */
const CENTRED_BINOMIAL_ETA = 21;
/** η/2, so that the standard deviation is 3.24. */
export const CENTRED_BINOMIAL_VARIANCE: number = CENTRED_BINOMIAL_ETA / 2;

/** Random words of one call after another, zero in between: a new array for each would take as long as the sampling. */
let words = new Uint32Array();

/**
 * Adds an independent centred binomial sample to every entry of `sums`: the number of ones among 42 fair bits,
 * minus 21, which has the distribution of a difference of two sums of 21. Straight-line code; 32 bits of a
 * sample come from a separate word, ten from a word shared by three samples.
 */
export function addCentredBinomial(random: Randomness, sums: Int32Array): void {
  const length = sums.length;
  const needed = length + Math.ceil(length / 3);
  if (words.length !== needed) words = new Uint32Array(needed);
  random(new Uint8Array(words.buffer));
  for (let i = 0, shared = length; i < length; shared++) {
    let tens = words[shared] as number;
    for (const end = Math.min(i + 3, length); i < end; i++) {
      sums[i] = (sums[i] as number) + ones42(words[i] as number, tens & 0x3ff) - CENTRED_BINOMIAL_ETA;
      tens >>>= 10;
    }
  }
  words.fill(0);
}

/** The number of ones in 32 + 10 bits; both words are counted in the same fields from the second step on. */
function ones42(word: number, ten: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const pairsOfTen = ten - ((ten >>> 1) & 0x155);
  // Fields of four bits: at most 4 + 4.
  const nibbles =
    (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333) + (pairsOfTen & 0x333) + ((pairsOfTen >>> 2) & 0x333);
  const bytes = (nibbles & 0x0f0f0f0f) + ((nibbles >>> 4) & 0x0f0f0f0f);
  return Math.imul(bytes, 0x01010101) >>> 24;
}
