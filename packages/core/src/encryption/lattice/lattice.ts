import { fastXof } from "../../fast-xof.ts";
import type { Randomness } from "../../randomness/index.ts";
import type { AdditiveScheme } from "../rerandomizable.ts";
import { changed, type LatticeCiphertext, phaseOpener, trivialCiphertext } from "./ciphertext.ts";
import { unitOf } from "./in-place.ts";
import {
  encodePublicKey,
  generateKeys,
  generateSecretKey,
  keyIssuer,
  type LatticePublicKey,
  type LatticeSecretKey,
} from "./keys.ts";
import { addElement, coefficient } from "./limbs.ts";
import { scaleElement } from "./multiples.ts";
import { type LatticeParameters, plaintextLimit, requireKnownSet } from "./parameters.ts";
import { ringOf } from "./ring.ts";
import { createRotatingLattice, type RotatingLattice } from "./rotating.ts";

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
 * Methods of `AdditiveScheme` return new ciphertexts; those that a device uses change theirs in place (`in-place.ts`).
 *
 * [LPR10] Lyubashevsky, Peikert, Regev, On ideal lattices and learning with errors over rings, 2010.
 */
export interface LatticeScheme
  extends AdditiveScheme<Slots, LatticePublicKey, LatticeSecretKey, LatticeCiphertext>,
    RotatingLattice {
  /** The public key of `generateKeys`, encoded. */
  issueKey(random: Randomness): Uint8Array;
}

/** `plaintextBits` is log₂ t, at most 30 and at least one bit less than log₂ q. */
export function createLattice(parameters: LatticeParameters, plaintextBits: number): LatticeScheme {
  const set = requireKnownSet(parameters);
  const most = plaintextLimit(set);
  if (!Number.isInteger(plaintextBits) || plaintextBits < 1 || plaintextBits > most) {
    throw new RangeError(`plaintextBits is a whole number from 1 to ${most}, not ${plaintextBits}`);
  }
  const inPlace = createRotatingLattice(set, plaintextBits);
  const ring = ringOf(set);
  const N = set.dimension;
  const t = 2 ** plaintextBits;
  const delta = unitOf(set, plaintextBits);
  const openPhase = phaseOpener(ring);

  function addEncryptionsOfZero(
    publicKey: LatticePublicKey,
    ciphertext: LatticeCiphertext,
    count: number,
    random: Randomness,
  ): void {
    if (!Number.isInteger(count) || count < 0) {
      throw new RangeError(`the number of encryptions is a whole number from 0 on, not ${count}`);
    }
    inPlace.addEncryptionsOfZero(publicKey, ciphertext, count, random);
  }

  function addToSlot(ciphertext: LatticeCiphertext, slot: number, value: number): void {
    if (!Number.isInteger(slot) || slot < 0 || slot >= N) {
      throw new RangeError(`slots are numbered 0 to ${N - 1}, there is no slot ${slot}`);
    }
    if (!Number.isInteger(value) || value < 0 || value >= t) {
      throw new RangeError(`a slot holds whole numbers from 0 to ${t - 1}, not ${value}`);
    }
    inPlace.addToSlot(ciphertext, slot, value);
  }

  function encrypt(publicKey: LatticePublicKey, message: Slots, random: Randomness): LatticeCiphertext {
    if (message.length !== N) throw new RangeError(`a message has ${N} slots, not ${message.length}`);
    const ciphertext = trivialCiphertext(ring);
    for (let slot = 0; slot < N; slot++) addToSlot(ciphertext, slot, message[slot] as number);
    addEncryptionsOfZero(publicKey, ciphertext, 1, random);
    return ciphertext;
  }

  function decrypt(secretKey: LatticeSecretKey, ciphertext: LatticeCiphertext): Slots {
    const phase = openPhase(secretKey, ciphertext);
    const message = new Int32Array(N);
    // Rounding up past t wraps to 0.
    for (let i = 0; i < N; i++) message[i] = Math.floor(coefficient(set, phase, i) / delta + 0.5) & (t - 1);
    phase.fill(0);
    return message;
  }

  return {
    ...inPlace,
    addEncryptionsOfZero,
    addToSlot,
    id: `lattice ${set.set} ${N}`,
    hidesRerandomizations: false,
    generateKeys: (random) => generateKeys(ring, random, fastXof),
    generateSecretKey: (random) => generateSecretKey(ring, random),
    issueKey: keyIssuer(ring, fastXof),
    encrypt,
    rerandomize: (publicKey, ciphertext, random) =>
      changed(ciphertext, (copy) => addEncryptionsOfZero(publicKey, copy, 1, random)),
    decrypt,
    encodePublicKey: (publicKey) => encodePublicKey(ring, publicKey),
    add: (left, right) =>
      changed(left, ({ c0, c1 }) => {
        addElement(set, c0, right.c0);
        addElement(set, c1, right.c1);
      }),
    scale: (factor, ciphertext) =>
      changed(ciphertext, ({ c0, c1 }) => {
        scaleElement(set, c0, factor);
        scaleElement(set, c1, factor);
      }),
  };
}
