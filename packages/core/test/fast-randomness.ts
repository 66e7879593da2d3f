import { createCipheriv, createHash } from "node:crypto";
import type { Randomness } from "../src/randomness/index.ts";

/**
 * Reproducible bytes like those of `seededRandomnessForTests`, but AES in counter mode in the platform's own code: for
 * tests that draw so many that our TurboSHAKE would take most of their time. Callers buffer small draws.
 */
export function fastRandomness(seed: string | number): Randomness {
  const key = createHash("sha256").update(`${seed}`).digest();
  const stream = createCipheriv("aes-256-ctr", key, new Uint8Array(16));
  return (into) => into.set(stream.update(new Uint8Array(into.length)));
}
