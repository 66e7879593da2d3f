import type { Randomness } from "@lethe/core/randomness";

/** The next `length` bytes of a source. */
export function bytesFrom(random: Randomness, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  random(bytes);
  return bytes;
}
