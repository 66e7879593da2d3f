import { requireWhole } from "../../error.ts";
import type { LatticeCiphertext } from "./ciphertext.ts";
import { createInPlaceLattice, type InPlaceLattice } from "./in-place.ts";
import type { RingElement, SmallPolynomial } from "./limbs.ts";
import { negateRange, scaleElement } from "./multiples.ts";
import type { LatticeParameters } from "./parameters.ts";
import { largestFactor } from "./product-error.ts";
import { type Ring, ringOf } from "./ring.ts";

/**
 * What statistics that count by rotation do besides, in place. In its own file, because devices of other tasks do not
 * load it.
 */
export interface RotatingLattice extends InPlaceLattice {
  /** Multiplies the message, as a polynomial, by X^k modulo X^N + 1. The noise keeps its distribution. */
  rotate(ciphertext: LatticeCiphertext, k: number): void;
  /** Multiplies the message by a public polynomial; the noise grows by its 2-norm. */
  multiply(ciphertext: LatticeCiphertext, factor: SmallPolynomial): void;
}

/** Checks as little as `createInPlaceLattice`. */
export function createRotatingLattice(parameters: LatticeParameters, plaintextBits: number): RotatingLattice {
  const ring = ringOf(parameters);
  return {
    ...createInPlaceLattice(parameters, plaintextBits),
    rotate: ({ c0, c1 }, k) => {
      for (const half of [c0, c1]) rotateElement(parameters, half, k);
    },
    multiply: ({ c0, c1 }, factor) => {
      for (const half of [c0, c1]) multiplyElement(ring, half, factor);
    },
  };
}

/** Multiplies by X^k, any integer k: coefficients that pass X^N change sign. */
export function rotateElement(parameters: LatticeParameters, target: RingElement, k: number): void {
  requireWhole("a rotation", k, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
  const { dimension: N, limbs } = parameters;
  const shift = ((k % (2 * N)) + 2 * N) % (2 * N);
  const start = shift % N;
  for (let l = 0; l < limbs; l++) {
    const limb = target.subarray(l * N, (l + 1) * N);
    const wrapped = limb.slice(N - start);
    limb.copyWithin(start, 0, N - start);
    limb.set(wrapped);
    wrapped.fill(0);
  }
  // Below `start` the coefficients have passed X^N once more than those from `start` on.
  if (shift < N) negateRange(parameters, target, 0, start);
  else negateRange(parameters, target, start, N);
}

/** Multiplies by a public polynomial with integer coefficients below 2³⁰, exactly. */
export function multiplyElement(ring: Ring, target: RingElement, factor: SmallPolynomial): void {
  const { parameters } = ring;
  const N = parameters.dimension;
  if (factor.length !== N) throw new RangeError(`a factor has ${N} coefficients, not ${factor.length}`);
  const digitBits = Math.floor(Math.log2(largestFactor(N))) + 1;
  const spectra = ring.transform(target);
  target.fill(0);
  // Horner's scheme, highest digit first.
  for (const digit of signedDigits(factor, digitBits).toReversed()) {
    scaleElement(parameters, target, 2 ** digitBits);
    ring.addProduct(target, spectra, ring.transformSmall(digit));
  }
  for (const spectrum of spectra) spectrum.fill(0);
}

/** Σ_k 2^{bits·k}·digit_k = factor, with digits in [−2^{bits−1}, 2^{bits−1}). */
function signedDigits(factor: SmallPolynomial, bits: number): SmallPolynomial[] {
  const base = 2 ** bits;
  const digits = [];
  let rest = factor;
  while (rest.some((coefficient) => coefficient !== 0)) {
    const quotient = rest.map((coefficient) => Math.floor(coefficient / base + 0.5));
    digits.push(rest.map((coefficient, i) => coefficient - (quotient[i] as number) * base));
    rest = quotient;
  }
  return digits;
}
