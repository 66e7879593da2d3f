import { xof } from "../xof.ts";

/**
 * Where random bytes come from: fills the array with independent uniform bytes. Always injected; everything
 * that samples asks for exactly what it needs when it needs it, so that no future randomness is in memory.
 */
export type Randomness = (into: Uint8Array) => void;

/** The part of `globalThis.crypto` that `randomnessFrom` needs. */
export interface RandomValues {
  getRandomValues(array: Uint8Array<ArrayBuffer>): Uint8Array;
}

/** `getRandomValues` fills at most this many bytes a call (Web Cryptography API §10.1.1). */
const LARGEST_REQUEST = 65_536;

/** The platform's CSPRNG, `randomnessFrom(globalThis.crypto)`: the only source outside tests. */
export function randomnessFrom(crypto: RandomValues): Randomness {
  return (into) => {
    for (let start = 0; start < into.length; start += LARGEST_REQUEST) {
      crypto.getRandomValues(into.subarray(start, start + LARGEST_REQUEST) as Uint8Array<ArrayBuffer>);
    }
  };
}

/** Reproducible bytes for tests and simulations. Anyone who knows the seed knows every secret drawn from it. */
export function seededRandomnessForTests(seed: string | number): Randomness {
  const codeUnits = Uint16Array.from(String(seed), (character) => character.charCodeAt(0));
  return xof("lethe seeded randomness for tests", new Uint8Array(codeUnits.buffer));
}

/**
 * Runs `use` with randomness that is fetched in blocks, for many small draws in one go. Randomness that was fetched and
 * not used is overwritten before this returns.
 */
export function withBufferedRandomness<T>(random: Randomness, use: (buffered: Randomness) => T): T {
  const buffer = new Uint8Array(4096);
  let at = buffer.length;
  const buffered: Randomness = (into) => {
    if (into.length > buffer.length) return random(into);
    if (at + into.length > buffer.length) {
      random(buffer);
      at = 0;
    }
    for (let i = 0; i < into.length; i++, at++) {
      into[i] = buffer[at] as number;
      buffer[at] = 0;
    }
  };
  try {
    return use(buffered);
  } finally {
    buffer.fill(0);
  }
}
