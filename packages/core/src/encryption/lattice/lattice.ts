import { LetheError, requireLength } from "../../error.ts";
import { addCentredBinomial, addTernary, type Randomness } from "../../randomness/index.ts";
import { xof } from "../../xof.ts";
import type { AdditiveScheme, KeyPair } from "../rerandomizable.ts";
import { type Secret, secret } from "../secret.ts";
import { packBits, packedBytes, unpackBits } from "./bit-packing.ts";
import { LATTICE_SETS, type LatticeParameters, LIMB, LIMB_BITS, LIMB_MASK, modulusBits } from "./parameters.ts";
import { createRing, type LimbSpectra, type Ring, type RingElement, type SmallPolynomial } from "./ring.ts";

/** N integers modulo t = 2^plaintextBits, each in [0, t). */
export type Slots = Int32Array;

/** The secret polynomial s, coefficients in {−1, 0, 1}. */
export type LatticeSecretKey = Secret<SmallPolynomial>;

/** (seed of a, b = −(a·s + e)), and the FFTs of a and b, which every encryption multiplies with. */
export interface LatticePublicKey {
  readonly seed: Uint8Array;
  readonly b: RingElement;
  readonly aSpectra: LimbSpectra;
  readonly bSpectra: LimbSpectra;
}

/** (c₀, c₁) with c₁ + c₀·s = (q/t)·m + noise. The in-place operations change its arrays. */
export interface LatticeCiphertext {
  readonly c0: RingElement;
  readonly c1: RingElement;
}

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

const SEED_BYTES = 32;

/** `plaintextBits` is log₂ t, at most 30 and at least one bit less than log₂ q. */
export function createLattice(parameters: LatticeParameters, plaintextBits: number): LatticeScheme {
  if (!Number.isInteger(plaintextBits) || plaintextBits < 1 || plaintextBits > plaintextLimit(parameters)) {
    throw new RangeError(
      `plaintextBits is a whole number from 1 to ${plaintextLimit(parameters)}, not ${plaintextBits}`,
    );
  }
  requireKnownSet(parameters);
  const ring = ringFor(parameters);
  const { dimension: N, limbs } = parameters;
  const elementBytes = limbs * packedBytes(N, LIMB_BITS);
  const ephemeral: SmallPolynomial = new Int32Array(N);
  const error0: SmallPolynomial = new Int32Array(N);
  const error1: SmallPolynomial = new Int32Array(N);

  function generateSecret(random: Randomness): { seed: Uint8Array; s: SmallPolynomial } {
    const seed = new Uint8Array(SEED_BYTES);
    random(seed);
    const s = new Int32Array(N);
    addTernary(random, s);
    return { seed, s };
  }

  function generateKeys(random: Randomness): KeyPair<LatticePublicKey, LatticeSecretKey> {
    const { seed, s } = generateSecret(random);
    const aSpectra = ring.transform(expandSeed(ring, seed));
    const e = new Int32Array(N);
    addCentredBinomial(random, e);
    const b = ring.zero();
    const sSpectrum = ring.transformSmall(s);
    ring.addProduct(b, aSpectra, sSpectrum);
    ring.addSmall(b, e);
    ring.negate(b);
    for (const secretArray of [e, sSpectrum]) secretArray.fill(0);
    return { publicKey: { seed, b, aSpectra, bSpectra: ring.transform(b) }, secretKey: secret(s) };
  }

  function addEncryptionsOfZero(
    publicKey: LatticePublicKey,
    { c0, c1 }: LatticeCiphertext,
    count: number,
    random: Randomness,
  ): void {
    if (!Number.isInteger(count) || count < 0) {
      throw new RangeError(`the number of encryptions is a whole number from 0 on, not ${count}`);
    }
    for (let left = count; left > 0; left -= ring.largestFactor) {
      const summed = Math.min(left, ring.largestFactor);
      try {
        // All randomness first: if it fails, no product without its errors is left in the ciphertext.
        sumSamples(addTernary, ephemeral, summed, random);
        sumSamples(addCentredBinomial, error0, summed, random);
        sumSamples(addCentredBinomial, error1, summed, random);
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
  }

  function encrypt(publicKey: LatticePublicKey, message: Slots, random: Randomness): LatticeCiphertext {
    if (message.length !== N) throw new RangeError(`a message has ${N} slots, not ${message.length}`);
    const ciphertext = trivial();
    for (let slot = 0; slot < N; slot++) addToSlot(ciphertext, slot, message[slot] as number);
    addEncryptionsOfZero(publicKey, ciphertext, 1, random);
    return ciphertext;
  }

  function trivial(): LatticeCiphertext {
    return { c0: ring.zero(), c1: ring.zero() };
  }

  function changed(ciphertext: LatticeCiphertext, change: (copy: LatticeCiphertext) => void): LatticeCiphertext {
    const copy = { c0: ciphertext.c0.slice(), c1: ciphertext.c1.slice() };
    change(copy);
    return copy;
  }

  const t = 2 ** plaintextBits;
  const shift = modulusBits(parameters) - plaintextBits;
  const delta = 2 ** shift; // q/t

  function addToSlot({ c1 }: LatticeCiphertext, slot: number, value: number): void {
    if (!Number.isInteger(slot) || slot < 0 || slot >= N) {
      throw new RangeError(`slots are numbered 0 to ${N - 1}, there is no slot ${slot}`);
    }
    if (!Number.isInteger(value) || value < 0 || value >= t) {
      throw new RangeError(`a slot holds whole numbers from 0 to ${t - 1}, not ${value}`);
    }
    // (q/t)·value, in limbs; the lowest bits of each product are the ones that count.
    if (limbs === 1) {
      c1[slot] = ((c1[slot] as number) + (value << shift)) & LIMB_MASK;
    } else if (shift >= LIMB_BITS) {
      c1[N + slot] = ((c1[N + slot] as number) + (value << (shift - LIMB_BITS))) & LIMB_MASK;
    } else {
      const low = (c1[slot] as number) + ((value << shift) & LIMB_MASK);
      c1[slot] = low & LIMB_MASK;
      c1[N + slot] = ((c1[N + slot] as number) + (value >>> (LIMB_BITS - shift)) + (low >> LIMB_BITS)) & LIMB_MASK;
    }
  }

  function decrypt(secretKey: LatticeSecretKey, ciphertext: LatticeCiphertext): Slots {
    const phase = openPhase(ring, secretKey, ciphertext);
    const message = new Int32Array(N);
    for (let i = 0; i < N; i++) {
      // Below 2⁵⁰ + 2⁴⁹: exact. Rounding up past t wraps to 0.
      const value = (phase[i] as number) + (limbs === 2 ? (phase[N + i] as number) * LIMB : 0);
      message[i] = Math.floor(value / delta + 0.5) & (t - 1);
    }
    return message;
  }

  function encode({ c0, c1 }: LatticeCiphertext): Uint8Array {
    const bytes = new Uint8Array(2 * elementBytes);
    packBits(c1, LIMB_BITS, bytes, packBits(c0, LIMB_BITS, bytes, 0));
    return bytes;
  }

  function decode(bytes: Uint8Array): LatticeCiphertext {
    requireLength("a lattice ciphertext", bytes, 2 * elementBytes);
    const ciphertext = trivial();
    unpackBits(bytes, unpackBits(bytes, 0, LIMB_BITS, ciphertext.c0), LIMB_BITS, ciphertext.c1);
    return ciphertext;
  }

  function encodePublicKey({ seed, b }: LatticePublicKey): Uint8Array {
    const bytes = new Uint8Array(SEED_BYTES + elementBytes);
    bytes.set(seed);
    packBits(b, LIMB_BITS, bytes, SEED_BYTES);
    return bytes;
  }

  function decodePublicKey(bytes: Uint8Array): LatticePublicKey {
    requireLength("a lattice public key", bytes, SEED_BYTES + elementBytes);
    const seed = bytes.slice(0, SEED_BYTES);
    const b = ring.zero();
    unpackBits(bytes, SEED_BYTES, LIMB_BITS, b);
    // Under b = 0 an encryption carries its message with hardly any noise: nobody's key.
    if (b.every((limb) => limb === 0)) throw new LetheError("bad-encoding", "zero is not a public key");
    return { seed, b, aSpectra: ring.transform(expandSeed(ring, seed)), bSpectra: ring.transform(b) };
  }

  return {
    id: `lattice ${parameters.set} ${N}`,
    hidesRerandomizations: false,
    parameters,
    plaintextBits,
    generateKeys,
    generateSecretKey: (random) => secret(generateSecret(random).s),
    encrypt,
    rerandomize: (publicKey, ciphertext, random) =>
      changed(ciphertext, (copy) => addEncryptionsOfZero(publicKey, copy, 1, random)),
    decrypt,
    ciphertextBytes: 2 * elementBytes,
    publicKeyBytes: SEED_BYTES + elementBytes,
    encode,
    decode,
    encodePublicKey,
    decodePublicKey,
    add: (left, right) =>
      changed(left, (copy) => {
        ring.add(copy.c0, right.c0);
        ring.add(copy.c1, right.c1);
      }),
    scale: (factor, ciphertext) =>
      changed(ciphertext, (copy) => {
        ring.scale(copy.c0, factor);
        ring.scale(copy.c1, factor);
      }),
    trivial,
    addEncryptionsOfZero,
    addToSlot,
    rotate: ({ c0, c1 }, k) => {
      ring.rotate(c0, k);
      ring.rotate(c1, k);
    },
    multiply: ({ c0, c1 }, factor) => {
      ring.multiply(c0, factor);
      ring.multiply(c1, factor);
    },
  };
}

/** One bit of every coefficient is left for noise at the least, and slots are 32-bit integers. */
export function plaintextLimit(parameters: LatticeParameters): number {
  return Math.min(30, modulusBits(parameters) - 1);
}

/** c₁ + c₀·s = (q/t)·m + noise: all that the key holder sees. */
export function openPhase(ring: Ring, secretKey: LatticeSecretKey, ciphertext: LatticeCiphertext): RingElement {
  const phase = ciphertext.c1.slice();
  const sSpectrum = ring.transformSmall(secretKey.reveal());
  ring.addProduct(phase, ring.transform(ciphertext.c0), sSpectrum);
  sSpectrum.fill(0);
  return phase;
}

/** a, uniform: the XOF's bits cut into limbs, which is exact because q is a power of two. */
function expandSeed(ring: Ring, seed: Uint8Array): RingElement {
  const a = ring.zero();
  const bytes = new Uint8Array(packedBytes(a.length, LIMB_BITS));
  xof("lethe lattice a", seed)(bytes);
  unpackBits(bytes, 0, LIMB_BITS, a);
  return a;
}

function sumSamples(
  add: (random: Randomness, sums: SmallPolynomial) => void,
  sums: SmallPolynomial,
  count: number,
  random: Randomness,
): void {
  sums.fill(0);
  for (let i = 0; i < count; i++) add(random, sums);
}

/** Other combinations of N and q would be insecure, or share a key with the set whose name they bear. */
function requireKnownSet(parameters: LatticeParameters): void {
  const known = LATTICE_SETS.some(
    ({ set, dimension, limbs }) =>
      set === parameters.set && dimension === parameters.dimension && limbs === parameters.limbs,
  );
  if (!known) throw new RangeError("these lattice parameters are not one of LATTICE_SETS");
}

const rings = new Map<string, Ring>();

/** Twiddle tables are shared by all schemes over the same ring. */
export function ringFor(parameters: LatticeParameters): Ring {
  const name = `${parameters.dimension} ${parameters.limbs}`;
  const ring = rings.get(name) ?? createRing(parameters);
  rings.set(name, ring);
  return ring;
}
