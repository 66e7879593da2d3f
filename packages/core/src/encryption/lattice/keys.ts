import { LetheError, requireLength } from "../../error.ts";
import { addCentredBinomial, addTernary, type Randomness } from "../../randomness/index.ts";
import { type Xof, xof } from "../../xof.ts";
import type { KeyPair } from "../rerandomizable.ts";
import { type Secret, secret } from "../secret.ts";
import { packBits, packedBytes, unpackBits } from "./bit-packing.ts";
import type { RingElement, SmallPolynomial } from "./limbs.ts";
import { negateRange } from "./multiples.ts";
import { LIMB_BITS } from "./parameters.ts";
import type { LimbSpectra, Ring } from "./ring.ts";

/** The secret polynomial s, coefficients in {−1, 0, 1}. */
export type LatticeSecretKey = Secret<SmallPolynomial>;

/** (seed of a, b = −(a·s + e)), and the FFTs of a and b, which every encryption multiplies with. */
export interface LatticePublicKey {
  readonly seed: Uint8Array;
  readonly b: RingElement;
  readonly aSpectra: LimbSpectra;
  readonly bSpectra: LimbSpectra;
}

const SEED_BYTES = 32;

/** Draws the seed, then s: a prefix of what `generateKeys` draws. */
export function generateSecretKey(ring: Ring, random: Randomness): LatticeSecretKey {
  const { dimension } = ring.parameters;
  const s = new Int32Array(dimension);
  drawSecret(random, s);
  return secret(s);
}

/** A pair of keys; the secret key is drawn first. `hash` is `xof`, in an implementation of the caller's choice. */
export function generateKeys(ring: Ring, random: Randomness, hash: Xof): KeyPair<LatticePublicKey, LatticeSecretKey> {
  const arrays = arraysFor(ring);
  const { s, e, b, sSpectrum, aSpectra } = arrays;
  const seed = drawKeys(ring, random, hash, arrays);
  for (const array of [e, sSpectrum]) array.fill(0);
  let bSpectra: LimbSpectra | undefined;
  const publicKey = {
    seed,
    b,
    aSpectra,
    // A server issues keys and never encrypts under them.
    get bSpectra() {
      bSpectra ??= ring.transform(b);
      return bSpectra;
    },
  };
  return { publicKey, secretKey: secret(s) };
}

/**
 * Issues public keys: each is the encoded public key of `generateKeys`. It works in the same arrays again and again:
 * with fresh ones, collecting garbage would take a second processor.
 */
export function keyIssuer(ring: Ring, hash: Xof): (random: Randomness) => Uint8Array {
  const arrays = arraysFor(ring);
  const { s, e, b, sSpectrum } = arrays;
  return (random) => {
    try {
      return encodePublicKey(ring, { seed: drawKeys(ring, random, hash, arrays), b });
    } finally {
      for (const array of [s, e, b, sSpectrum]) array.fill(0);
    }
  };
}

/** What a pair of keys is made in. Before, s, e and b are zero. */
interface KeyArrays {
  readonly s: SmallPolynomial;
  readonly e: SmallPolynomial;
  readonly b: RingElement;
  readonly sSpectrum: Float64Array;
  readonly aSpectra: LimbSpectra;
}

function arraysFor(ring: Ring): KeyArrays {
  const { dimension } = ring.parameters;
  const [s, e, b] = [new Int32Array(dimension), new Int32Array(dimension), ring.zero()];
  return { s, e, b, sSpectrum: ring.transformSmall(s), aSpectra: ring.transform(b) };
}

/** Draws s and e, and multiplies b = −(a·s + e); returns the seed of a. */
function drawKeys(ring: Ring, random: Randomness, hash: Xof, { s, e, b, sSpectrum, aSpectra }: KeyArrays): Uint8Array {
  const seed = drawSecret(random, s);
  addCentredBinomial(random, e);
  ring.transform(expandSeed(ring, seed, hash), aSpectra);
  ring.transformSmall(s, sSpectrum);
  ring.addProduct(b, aSpectra, sSpectrum, e);
  negateRange(ring.parameters, b, 0, ring.parameters.dimension);
  return seed;
}

/** Draws the seed, which is returned, and adds s to zeros. */
function drawSecret(random: Randomness, zeros: SmallPolynomial): Uint8Array {
  const seed = new Uint8Array(SEED_BYTES);
  random(seed);
  addTernary(random, zeros);
  return seed;
}

/** a, uniform: the XOF's bits cut into limbs, which is exact because q is a power of two. */
function expandSeed(ring: Ring, seed: Uint8Array, hash: Xof): RingElement {
  const a = ring.zero();
  const bytes = new Uint8Array(packedBytes(a.length, LIMB_BITS));
  hash("lethe lattice a", seed)(bytes);
  unpackBits(bytes, 0, LIMB_BITS, a);
  return a;
}

/** The length of an encoded public key. */
export function publicKeyBytes(ring: Ring): number {
  return SEED_BYTES + packedBytes(ring.zero().length, LIMB_BITS);
}

/** The seed of a, and b, packed. */
export function encodePublicKey(ring: Ring, { seed, b }: Pick<LatticePublicKey, "seed" | "b">): Uint8Array {
  const bytes = new Uint8Array(publicKeyBytes(ring));
  bytes.set(seed);
  packBits(b, LIMB_BITS, bytes, SEED_BYTES);
  return bytes;
}

/** Its inverse; anything else is a `bad-encoding` error. */
export function decodePublicKey(ring: Ring, bytes: Uint8Array): LatticePublicKey {
  requireLength("a lattice public key", bytes, publicKeyBytes(ring));
  const seed = bytes.slice(0, SEED_BYTES);
  const b = ring.zero();
  unpackBits(bytes, SEED_BYTES, LIMB_BITS, b);
  // Under b = 0 an encryption carries its message with hardly any noise: nobody's key.
  if (b.every((limb) => limb === 0)) throw new LetheError("bad-encoding", "zero is not a public key");
  return { seed, b, aSpectra: ring.transform(expandSeed(ring, seed, xof)), bSpectra: ring.transform(b) };
}
