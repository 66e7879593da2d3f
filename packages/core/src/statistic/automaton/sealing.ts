import type { Randomness } from "../../randomness/index.ts";
import type { Move } from "./slots.ts";

/** A public key and randomness, ready to encrypt. */
export interface Encryptor<Ciphertext> {
  encrypt(message: number): Ciphertext;
  rerandomize(ciphertext: Ciphertext): Ciphertext;
  /** Old slots, moved by a symbol. */
  move(slots: readonly Ciphertext[], move: Move): Ciphertext[];
}

/** How the slots at the end of a window become a report. */
export interface Sealing<Ciphertext> {
  /** Ciphertexts in the report. */
  readonly length: number;
  /** Draws the coins of the mechanism, before any slot is looked at. What it returns makes the report. */
  draw(random: Randomness): (slots: readonly Ciphertext[], encryptor: Encryptor<Ciphertext>) => Ciphertext[];
}

/** The answer for a bit: the bit itself, or 0 or 1 regardless. */
export type BitResponse = 0 | 1 | "keep";

/** Sums of slots as they are, rerandomized: for servers that add the noise. */
export function trueBits<C>(sums: Move): Sealing<C> {
  return {
    length: sums.length,
    draw:
      () =>
      (slots, { move, rerandomize }) =>
        move(slots, sums).map(rerandomize),
  };
}

/**
 * Sums of slots, each a bit to which a response is applied under encryption: the bit is kept and rerandomized, or
 * replaced by a fresh encryption. Both are always prepared. (Alg. 2, l. 12–22; Alg. 3, l. 20–34.)
 */
export function answeredBits<C>(sums: Move, draw: (random: Randomness) => readonly BitResponse[]): Sealing<C> {
  return {
    length: sums.length,
    draw: (random) => {
      const responses = draw(random);
      return (slots, { move, encrypt, rerandomize }) =>
        move(slots, sums).map((bit, i) => {
          const response = responses[i] as BitResponse;
          const kept = rerandomize(bit);
          const replaced = encrypt(response === "keep" ? 0 : response);
          return response === "keep" ? kept : replaced;
        });
    },
  };
}
