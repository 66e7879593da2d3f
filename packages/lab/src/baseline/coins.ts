import type { Randomness } from "@lethe/core/randomness";
import { oneBits } from "../arithmetic/one-bits.ts";

/** A word of 32 independent coins. */
export type Coins = () => number;

const BUFFER_WORDS = 4096;
/** Probabilities are multiples of 2⁻⁴⁰, as those of all mechanisms are. */
const DIGITS = 40;

/** Random words, fetched in blocks: experiments flip billions of coins. */
export function createWords(random: Randomness): Coins {
  const words = new Uint32Array(BUFFER_WORDS);
  const bytes = new Uint8Array(words.buffer);
  let next = BUFFER_WORDS;
  return () => {
    if (next === BUFFER_WORDS) {
      random(bytes);
      next = 0;
    }
    return words[next++] as number;
  };
}

/**
 * Coins that are 1 with probability exactly `probability`: each compares a uniform number with it, digit by digit, all
 * 32 at once, until no coin is undecided. A quarter takes two words.
 */
export function createCoins(words: Coins, probability: number): Coins {
  const digits = digitsOf(probability);
  return () => {
    let ones = 0;
    let undecided = -1;
    for (let i = 0; i < digits.length; i++) {
      const word = words();
      if (digits[i] === 1) {
        ones |= undecided & ~word;
        undecided &= word;
      } else undecided &= ~word;
      if (undecided === 0) break;
    }
    return ones;
  };
}

/** After the last 1 nothing more can be less than the probability. */
function digitsOf(probability: number): Uint8Array {
  const units = probability * 2 ** DIGITS;
  if (!Number.isInteger(units) || units < 0 || units >= 2 ** DIGITS) {
    throw new RangeError(`a coin's probability is a multiple of 2⁻⁴⁰ below 1, not ${probability}`);
  }
  const digits = Array.from({ length: DIGITS }, (_, i) => Math.floor(units / 2 ** (DIGITS - 1 - i)) % 2);
  return Uint8Array.from(digits.slice(0, digits.lastIndexOf(1) + 1));
}

/** How many of the first `count` coins are 1. */
export function countOnes(coins: Coins, count: number): number {
  let ones = 0;
  for (let left = count; left > 0; left -= 32) {
    const word = coins();
    ones += oneBits(left >= 32 ? word : word & (2 ** left - 1));
  }
  return ones;
}
