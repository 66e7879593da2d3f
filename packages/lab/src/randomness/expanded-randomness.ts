/**
 * Randomness for experiments that draw gigabytes, and bytes from any source. Imports core's type of a source only.
 */
import { createCipheriv } from "node:crypto";
import type { Randomness } from "@lethe/core/randomness";
import { bytesFrom } from "./bytes-from.ts";

/** The length of a key for `randomnessFromKey`. */
export const RANDOMNESS_KEY_BYTES = 32;
const BLOCK = new Uint8Array(65_536);

/**
 * Randomness from AES-256 in counter mode: reproducible with its key, pseudorandom for anyone without it, and fast.
 * Experiments draw gigabytes, and core's seeded randomness, a hash, has a hundredth of the platform's speed.
 */
export function randomnessFromKey(key: Uint8Array): Randomness {
  const cipher = createCipheriv("aes-256-ctr", key, new Uint8Array(16));
  let block = new Uint8Array();
  let at = 0;
  return (into) => {
    for (let filled = 0; filled < into.length; ) {
      if (at === block.length) [block, at] = [cipher.update(BLOCK), 0];
      const count = Math.min(into.length - filled, block.length - at);
      into.set(block.subarray(at, at + count), filled);
      filled += count;
      at += count;
    }
  };
}

/** Fast randomness under a key that is drawn from a slower source. */
export function expandedRandomness(random: Randomness): Randomness {
  return randomnessFromKey(bytesFrom(random, RANDOMNESS_KEY_BYTES));
}
