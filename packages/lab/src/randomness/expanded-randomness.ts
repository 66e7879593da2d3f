import { createCipheriv } from "node:crypto";
import type { Randomness } from "@lethe/core/randomness";
import { bytesFrom } from "./bytes-from.ts";

export const RANDOMNESS_KEY_BYTES = 32;
const BLOCK = new Uint8Array(65_536);

/**
 * AES-256 in counter mode: as hard to tell from uniform bytes as its key, reproducible with it, and fast. Experiments draw
 * gigabytes, and seeded randomness, a hash, has a hundredth of the platform's speed.
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

/** Under a key that is drawn from it. */
export function expandedRandomness(random: Randomness): Randomness {
  return randomnessFromKey(bytesFrom(random, RANDOMNESS_KEY_BYTES));
}
