import { addCentredBinomial, addTernary, type Randomness } from "../../randomness/index.ts";
import type { AdditiveScheme } from "../rerandomizable.ts";
import {
  changed,
  ciphertextBytes,
  decodeCiphertext,
  encodeCiphertext,
  type LatticeCiphertext,
  openPhase,
  trivialCiphertext,
} from "./ciphertext.ts";
import {
  decodePublicKey,
  encodePublicKey,
  generateKeys,
  generateSecretKey,
  type LatticePublicKey,
  type LatticeSecretKey,
  publicKeyBytes,
} from "./keys.ts";
import { addToCoefficient, coefficient, type SmallPolynomial } from "./limbs.ts";
import { type LatticeParameters, modulusBits, plaintextLimit, requireKnownSet } from "./parameters.ts";
import { type Ring, ringOf } from "./ring.ts";

/** N integers modulo t = 2^plaintextBits, each in [0, t). */
export type Slots = Int32Array;

/**
 * Packed Ring-LWE encryption [LPR10] with N counters in one ciphertext.
 *
 * Enc(m) = (a·u + e₁, b·u + e₂ + (q/t)·m) with u uniform ternary and e₁, e₂ centred binomial, drawn exactly;
 * Rerandomize(c) = c + Enc(0); Dec rounds t·(c₁ + c₀·s)/q. Semantically secure under Ring-LWE, also against quantum
 * computers. Every fresh encryption adds noise that the key holder sees, so how many of them are in a
 * ciphertext must not depend on events; the bound on it is in `failure-bound.ts`.
 *
 * The methods of the interface return new ciphertexts. Those below change theirs in place and are what a device
 * uses: a discarded older version would lie in memory beside the newer one.
 *
 * [LPR10] Lyubashevsky, Peikert, Regev, On ideal lattices and learning with errors over rings, 2010.
 */
export interface LatticeScheme extends AdditiveScheme<Slots, LatticePublicKey, LatticeSecretKey, LatticeCiphertext> {
  readonly parameters: LatticeParameters;
  readonly plaintextBits: number;
  /** The encryption of zeros that holds no randomness. Never to be stored: rerandomize it first. */
  trivial(): LatticeCiphertext;
  /** Adds `count` fresh encryptions of zero: their samples are added up, then multiplied once. */
  addEncryptionsOfZero(
    publicKey: LatticePublicKey,
    ciphertext: LatticeCiphertext,
    count: number,
    random: Randomness,
  ): void;
  /** Adds a known value to one slot. */
  addToSlot(ciphertext: LatticeCiphertext, slot: number, value: number): void;
  /** Multiplies the message, as a polynomial, by X^k modulo X^N + 1. The noise keeps its distribution. */
  rotate(ciphertext: LatticeCiphertext, k: number): void;
  /** Multiplies the message by a public polynomial; the noise grows by its 2-norm. */
  multiply(ciphertext: LatticeCiphertext, factor: SmallPolynomial): void;
}

/** `plaintextBits` is log₂ t, at most 30 and at least one bit less than log₂ q. */
export function createLattice(parameters: LatticeParameters, plaintextBits: number): LatticeScheme {
  const set = requireKnownSet(parameters);
  const most = plaintextLimit(set);
  if (!Number.isInteger(plaintextBits) || plaintextBits < 1 || plaintextBits > most) {
    throw new RangeError(`plaintextBits is a whole number from 1 to ${most}, not ${plaintextBits}`);
  }
  const ring = ringOf(set);
  const N = set.dimension;
  const t = 2 ** plaintextBits;
  const delta = 2 ** (modulusBits(set) - plaintextBits); // q/t
  const addEncryptionsOfZero = createZeroEncryptor(ring);

  function addToSlot({ c1 }: LatticeCiphertext, slot: number, value: number): void {
    if (!Number.isInteger(slot) || slot < 0 || slot >= N) {
      throw new RangeError(`slots are numbered 0 to ${N - 1}, there is no slot ${slot}`);
    }
    if (!Number.isInteger(value) || value < 0 || value >= t) {
      throw new RangeError(`a slot holds whole numbers from 0 to ${t - 1}, not ${value}`);
    }
    addToCoefficient(set, c1, slot, delta * value);
  }

  function encrypt(publicKey: LatticePublicKey, message: Slots, random: Randomness): LatticeCiphertext {
    if (message.length !== N) throw new RangeError(`a message has ${N} slots, not ${message.length}`);
    const ciphertext = trivialCiphertext(ring);
    for (let slot = 0; slot < N; slot++) addToSlot(ciphertext, slot, message[slot] as number);
    addEncryptionsOfZero(publicKey, ciphertext, 1, random);
    return ciphertext;
  }

  function decrypt(secretKey: LatticeSecretKey, ciphertext: LatticeCiphertext): Slots {
    const phase = openPhase(ring, secretKey, ciphertext);
    const message = new Int32Array(N);
    // Rounding up past t wraps to 0.
    for (let i = 0; i < N; i++) message[i] = Math.floor(coefficient(set, phase, i) / delta + 0.5) & (t - 1);
    return message;
  }

  /** Applies an operation of the ring to both halves. */
  const onBoth =
    <Argument>(operation: (target: Int32Array, argument: Argument) => void) =>
    ({ c0, c1 }: LatticeCiphertext, argument: Argument): void => {
      operation(c0, argument);
      operation(c1, argument);
    };

  return {
    id: `lattice ${set.set} ${N}`,
    hidesRerandomizations: false,
    parameters: set,
    plaintextBits,
    generateKeys: (random) => generateKeys(ring, random),
    generateSecretKey: (random) => generateSecretKey(ring, random),
    encrypt,
    rerandomize: (publicKey, ciphertext, random) =>
      changed(ciphertext, (copy) => addEncryptionsOfZero(publicKey, copy, 1, random)),
    decrypt,
    ciphertextBytes: ciphertextBytes(ring),
    publicKeyBytes: publicKeyBytes(ring),
    encode: (ciphertext) => encodeCiphertext(ring, ciphertext),
    decode: (bytes) => decodeCiphertext(ring, bytes),
    encodePublicKey: (publicKey) => encodePublicKey(ring, publicKey),
    decodePublicKey: (bytes) => decodePublicKey(ring, bytes),
    add: (left, right) =>
      changed(left, ({ c0, c1 }) => {
        ring.add(c0, right.c0);
        ring.add(c1, right.c1);
      }),
    scale: (factor, ciphertext) => changed(ciphertext, (copy) => onBoth(ring.scale)(copy, factor)),
    trivial: () => trivialCiphertext(ring),
    addEncryptionsOfZero,
    addToSlot,
    rotate: onBoth(ring.rotate),
    multiply: onBoth(ring.multiply),
  };
}

function createZeroEncryptor(ring: Ring): LatticeScheme["addEncryptionsOfZero"] {
  const N = ring.parameters.dimension;
  const [ephemeral, error0, error1] = [new Int32Array(N), new Int32Array(N), new Int32Array(N)] as const;

  return (publicKey, { c0, c1 }, count, random) => {
    if (!Number.isInteger(count) || count < 0) {
      throw new RangeError(`the number of encryptions is a whole number from 0 on, not ${count}`);
    }
    for (let left = count; left > 0; left -= ring.largestFactor) {
      const summed = Math.min(left, ring.largestFactor);
      try {
        // All randomness first: if it fails, no product without its errors is left in the ciphertext.
        for (let i = 0; i < summed; i++) {
          addTernary(random, ephemeral);
          addCentredBinomial(random, error0);
          addCentredBinomial(random, error1);
        }
        const u = ring.transformSmall(ephemeral);
        ring.addProduct(c0, publicKey.aSpectra, u);
        ring.addProduct(c1, publicKey.bSpectra, u);
        ring.addSmall(c0, error0);
        ring.addSmall(c1, error1);
        u.fill(0);
      } finally {
        for (const sample of [ephemeral, error0, error1]) sample.fill(0);
      }
    }
  };
}
