import { requireLength } from "../../error.ts";
import { packBits, packedBytes, unpackBits } from "./bit-packing.ts";
import type { LatticeSecretKey } from "./keys.ts";
import type { RingElement } from "./limbs.ts";
import { LIMB_BITS } from "./parameters.ts";
import type { Ring } from "./ring.ts";

/** (c₀, c₁) with c₁ + c₀·s = (q/t)·m + noise. The in-place operations change its arrays. */
export interface LatticeCiphertext {
  readonly c0: RingElement;
  readonly c1: RingElement;
}

/** The encryption of zeros that holds no randomness. */
export function trivialCiphertext(ring: Ring): LatticeCiphertext {
  return { c0: ring.zero(), c1: ring.zero() };
}

/** A copy with a change, for those who want the old one too. */
export function changed(ciphertext: LatticeCiphertext, change: (copy: LatticeCiphertext) => void): LatticeCiphertext {
  const copy = { c0: ciphertext.c0.slice(), c1: ciphertext.c1.slice() };
  change(copy);
  return copy;
}

/**
 * Opens ciphertexts: c₁ + c₀·s = (q/t)·m + noise, all that the key holder sees. It is valid until the next call, which
 * works in the same arrays: with fresh ones, collecting garbage would take a second processor.
 */
export function phaseOpener(ring: Ring): (secretKey: LatticeSecretKey, ciphertext: LatticeCiphertext) => RingElement {
  const phase = ring.zero();
  const c0Spectra = ring.transform(phase);
  const sSpectrum = new Float64Array(ring.parameters.dimension);
  return (secretKey, { c0, c1 }) => {
    phase.set(c1);
    ring.transformSmall(secretKey.reveal(), sSpectrum);
    ring.addProduct(phase, ring.transform(c0, c0Spectra), sSpectrum);
    sSpectrum.fill(0);
    return phase;
  };
}

/** The length of an encoded ciphertext. */
export function ciphertextBytes(ring: Ring): number {
  return 2 * packedBytes(ring.zero().length, LIMB_BITS);
}

/** Both polynomials, packed. */
export function encodeCiphertext(ring: Ring, { c0, c1 }: LatticeCiphertext): Uint8Array {
  const bytes = new Uint8Array(ciphertextBytes(ring));
  packBits(c1, LIMB_BITS, bytes, packBits(c0, LIMB_BITS, bytes, 0));
  return bytes;
}

/** Its inverse; anything else is a `bad-encoding` error. */
export function decodeCiphertext(ring: Ring, bytes: Uint8Array): LatticeCiphertext {
  requireLength("a lattice ciphertext", bytes, ciphertextBytes(ring));
  const ciphertext = trivialCiphertext(ring);
  unpackBits(bytes, unpackBits(bytes, 0, LIMB_BITS, ciphertext.c0), LIMB_BITS, ciphertext.c1);
  return ciphertext;
}
