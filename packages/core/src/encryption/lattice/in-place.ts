import { addCentredBinomial, addTernary, type Randomness } from "../../randomness/index.ts";
import { addSummed, MOST_SUMMED } from "../../randomness/summed.ts";
import {
  ciphertextBytes,
  decodeCiphertext,
  encodeCiphertext,
  type LatticeCiphertext,
  trivialCiphertext,
} from "./ciphertext.ts";
import { decodePublicKey, type LatticePublicKey, publicKeyBytes } from "./keys.ts";
import { addToCoefficient } from "./limbs.ts";
import { type LatticeParameters, modulusBits } from "./parameters.ts";
import { type Ring, ringOf } from "./ring.ts";

/**
 * What a device does with the ciphertexts of `lattice.ts`, all without a secret key. They are changed in place: a
 * discarded older version would stay in memory beside the newer one.
 */
export interface InPlaceLattice {
  readonly parameters: LatticeParameters;
  readonly plaintextBits: number;

  readonly ciphertextBytes: number;
  readonly publicKeyBytes: number;
  encode(ciphertext: LatticeCiphertext): Uint8Array;
  decode(bytes: Uint8Array): LatticeCiphertext;
  decodePublicKey(bytes: Uint8Array): LatticePublicKey;

  /** The encryption of zeros that holds no randomness. Never to be stored: rerandomize it first. */
  trivial(): LatticeCiphertext;
  /**
   * Adds `count` fresh encryptions of zero. The samples of a single one are drawn one by one. Of several the sums are drawn
   * directly (`summed.ts`) and multiplied once: the cost hardly depends on `count`.
   */
  addEncryptionsOfZero(
    publicKey: LatticePublicKey,
    ciphertext: LatticeCiphertext,
    count: number,
    random: Randomness,
  ): void;
  /** Adds a known value to one slot. */
  addToSlot(ciphertext: LatticeCiphertext, slot: number, value: number): void;
}

/** q/t: the difference that a slot's value makes to its coefficient. */
export function unitOf(parameters: LatticeParameters, plaintextBits: number): number {
  return 2 ** (modulusBits(parameters) - plaintextBits);
}

/** Checks nothing: `createLattice` does so for its callers, and the statistics work their numbers out. */
export function createInPlaceLattice(parameters: LatticeParameters, plaintextBits: number): InPlaceLattice {
  const ring = ringOf(parameters);
  const delta = unitOf(parameters, plaintextBits);

  function addToSlot({ c1 }: LatticeCiphertext, slot: number, value: number): void {
    addToCoefficient(parameters, c1, slot, delta * value);
  }

  return {
    parameters,
    plaintextBits,
    ciphertextBytes: ciphertextBytes(ring),
    publicKeyBytes: publicKeyBytes(ring),
    encode: (ciphertext) => encodeCiphertext(ring, ciphertext),
    decode: (bytes) => decodeCiphertext(ring, bytes),
    decodePublicKey: (bytes) => decodePublicKey(ring, bytes),
    trivial: () => trivialCiphertext(ring),
    addEncryptionsOfZero: createZeroEncryptor(ring),
    addToSlot,
  };
}

function createZeroEncryptor(ring: Ring): InPlaceLattice["addEncryptionsOfZero"] {
  const N = ring.parameters.dimension;
  const [ephemeral, error0, error1] = [new Int32Array(N), new Int32Array(N), new Int32Array(N)] as const;
  const spectrum = new Float64Array(N);

  return (publicKey, { c0, c1 }, count, random) => {
    // A sum of 4,096 ternary samples has standard deviation 52, and `largestFactor` is at least 219. By Chernoff's bound
    // the 2-norm of N such sums exceeds that of a vector full of `largestFactor` with probability below 2⁻¹⁰⁰⁰⁰. So
    // products are exact, although single entries may be larger.
    for (let left = count; left > 0; left -= MOST_SUMMED) {
      const summed = Math.min(left, MOST_SUMMED);
      try {
        // All randomness first: if it fails, no product without its errors is left in the ciphertext.
        if (summed === 1) {
          addTernary(random, ephemeral);
          addCentredBinomial(random, error0);
          addCentredBinomial(random, error1);
        } else {
          addSummed("ternary", random, summed, ephemeral);
          addSummed("binomial", random, summed, error0);
          addSummed("binomial", random, summed, error1);
        }
        const u = ring.transformSmall(ephemeral, spectrum);
        ring.addProduct(c0, publicKey.aSpectra, u, error0);
        ring.addProduct(c1, publicKey.bSpectra, u, error1);
      } finally {
        for (const sample of [ephemeral, error0, error1, spectrum]) sample.fill(0);
      }
    }
  };
}
