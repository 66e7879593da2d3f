import { unpackBits } from "../../encryption/lattice/bit-packing.ts";
import { xof } from "../../xof.ts";

/**
 * A fixed pattern in reserved slots. Under a wrong key slots open to uniform values, so a report opened with another
 * device's key shows the pattern with probability at most 2⁻⁶⁴. It is not a signature: who sends under their own key
 * can always show it.
 */
export interface Canary {
  readonly slots: readonly number[];
  readonly values: Int32Array;
}

const CANARY_BITS = 64;

/** How many slots a canary takes. */
export function canaryLength(plaintextBits: number): number {
  return Math.ceil(CANARY_BITS / plaintextBits);
}

/** The canary in the slots from `first` on. */
export function createCanary(plaintextBits: number, first: number): Canary {
  const length = canaryLength(plaintextBits);
  const bytes = new Uint8Array(3 * length);
  xof("lethe canary")(bytes);
  const words = new Int32Array(length);
  unpackBits(bytes, 0, 24, words);
  const values = words.map((word) => word % 2 ** plaintextBits);
  return { slots: Array.from({ length }, (_, i) => first + i), values };
}

/** Compares all of it, wherever it differs. */
export function showsCanary({ slots, values }: Canary, opened: Int32Array): boolean {
  return slots.reduce((bits, slot, i) => bits | ((opened[slot] as number) ^ (values[i] as number)), 0) === 0;
}
