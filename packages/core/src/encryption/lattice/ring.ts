import { createNegacyclicFft, productError } from "./negacyclic-fft.ts";
import { type LatticeParameters, LIMB, LIMB_BITS, LIMB_MASK } from "./parameters.ts";

/**
 * An element of R_q = Z_q[X]/(X^N + 1), q = 2^{25·limbs}: limb l of coefficient i at [l·N + i], every limb in
 * [0, 2²⁵). All operations work in place, so that no older version of a ciphertext is left behind in memory.
 */
export type RingElement = Int32Array;

/** A polynomial with small integer coefficients, any sign, N of them: samples, keys, weights. */
export type SmallPolynomial = Int32Array;

/** The FFT of a small polynomial. */
type Spectrum = Float64Array;

/** The FFTs of a ring element's limbs, taken in [−2²⁴, 2²⁴), divided by N/2 for the inverse transform. */
export type LimbSpectra = readonly Float64Array[];

export interface Ring {
  readonly parameters: LatticeParameters;
  zero(): RingElement;
  add(target: RingElement, other: RingElement): void;
  addSmall(target: RingElement, small: SmallPolynomial): void;
  negate(target: RingElement): void;
  /** Multiplies by a public integer below 2²⁵ in absolute value. */
  scale(target: RingElement, factor: number): void;
  /** Multiplies by X^k, any integer k: coefficients that pass X^N change sign. */
  rotate(target: RingElement, k: number): void;
  /** Multiplies by a public small polynomial. */
  multiply(target: RingElement, factor: SmallPolynomial): void;

  transform(element: RingElement): LimbSpectra;
  transformSmall(small: SmallPolynomial): Spectrum;
  /** Adds a product, exactly; the factor's coefficients are bounded by `largestFactor`. */
  addProduct(target: RingElement, element: LimbSpectra, factor: Spectrum): void;
  /** The largest coefficient of a small polynomial for which `addProduct` is exact whatever the others are. */
  readonly largestFactor: number;
}

const LIMB_HALF = LIMB / 2;
/** Adding and subtracting this rounds a double below 2⁵¹ to the nearest integer. */
const ROUNDING = 1.5 * 2 ** 52;

export function createRing(parameters: LatticeParameters): Ring {
  const { dimension: N, limbs } = parameters;
  const half = N / 2;
  const fft = createNegacyclicFft(N);
  // Every vector with coefficients in [−2²⁴, 2²⁴) has 2-norm at most 2²⁴·√N, every factor largestFactor·√N.
  const largestFactor = Math.floor(0.25 / productError(N, LIMB_HALF * Math.sqrt(N), Math.sqrt(N)));
  const digitBits = Math.floor(Math.log2(largestFactor)) + 1;
  const product = new Float64Array(N);
  const centred = new Int32Array(limbs * N);

  function zero(): RingElement {
    return new Int32Array(limbs * N);
  }

  function add(target: RingElement, other: RingElement): void {
    for (let i = 0; i < N; i++) {
      const low = (target[i] as number) + (other[i] as number);
      target[i] = low & LIMB_MASK;
      if (limbs === 2) {
        target[N + i] = ((target[N + i] as number) + (other[N + i] as number) + (low >> LIMB_BITS)) & LIMB_MASK;
      }
    }
  }

  function addSmall(target: RingElement, small: SmallPolynomial): void {
    for (let i = 0; i < N; i++) {
      const low = (target[i] as number) + (small[i] as number);
      target[i] = low & LIMB_MASK;
      if (limbs === 2) target[N + i] = ((target[N + i] as number) + (low >> LIMB_BITS)) & LIMB_MASK;
    }
  }

  function negate(target: RingElement): void {
    for (let i = 0; i < N; i++) negateCoefficient(target, i);
  }

  function negateCoefficient(target: RingElement, i: number): void {
    const low = -(target[i] as number);
    target[i] = low & LIMB_MASK;
    if (limbs === 2) target[N + i] = ((low >> LIMB_BITS) - (target[N + i] as number)) & LIMB_MASK;
  }

  function scale(target: RingElement, factor: number): void {
    if (!Number.isInteger(factor) || Math.abs(factor) >= LIMB) {
      throw new RangeError(`a factor is a whole number below 2^${LIMB_BITS} in absolute value, not ${factor}`);
    }
    const size = Math.abs(factor);
    for (let i = 0; i < N; i++) {
      // Below 2⁵⁰ + 2²⁵: exact in doubles.
      let carry = 0;
      for (let l = 0; l < limbs; l++) {
        const value = (target[l * N + i] as number) * size + carry;
        carry = Math.floor(value / LIMB);
        target[l * N + i] = value - carry * LIMB;
      }
      if (factor < 0) negateCoefficient(target, i);
    }
  }

  function rotate(target: RingElement, k: number): void {
    if (!Number.isSafeInteger(k)) throw new RangeError(`a rotation is by a whole number, not ${k}`);
    const shift = ((k % (2 * N)) + 2 * N) % (2 * N);
    const flipped = shift >= N;
    const start = flipped ? shift - N : shift;
    for (let l = 0; l < limbs; l++) {
      const limb = target.subarray(l * N, (l + 1) * N);
      const wrapped = limb.slice(N - start);
      limb.copyWithin(start, 0, N - start);
      limb.set(wrapped);
      wrapped.fill(0);
    }
    // Below `start` the coefficients have passed X^N once; a flip changes the sign of all.
    const [from, to] = flipped ? [start, N] : [0, start];
    for (let i = from; i < to; i++) negateCoefficient(target, i);
  }

  function transform(element: RingElement): LimbSpectra {
    centred.set(element);
    for (let i = 0; i < limbs * N; i++) {
      const carry = ((centred[i] as number) + LIMB_HALF) >> LIMB_BITS;
      centred[i] = (centred[i] as number) - carry * LIMB;
      // The carry out of the top limb is a multiple of q.
      if (i + N < limbs * N) centred[i + N] = (centred[i + N] as number) + carry;
    }
    const spectra = Array.from({ length: limbs }, (_, l) => {
      const spectrum = new Float64Array(centred.subarray(l * N, (l + 1) * N));
      fft.forward(spectrum);
      for (let k = 0; k < N; k++) spectrum[k] = (spectrum[k] as number) / half;
      return spectrum;
    });
    centred.fill(0);
    return spectra;
  }

  function transformSmall(small: SmallPolynomial): Spectrum {
    const spectrum = new Float64Array(small);
    fft.forward(spectrum);
    return spectrum;
  }

  function addProduct(target: RingElement, element: LimbSpectra, factor: Spectrum): void {
    for (let l = 0; l < limbs; l++) {
      multiplyPointwise(element[l] as Float64Array, factor, product);
      fft.inverse(product);
      const top = l + 1 === limbs;
      for (let i = 0; i < N; i++) {
        const rounded = (product[i] as number) + ROUNDING - ROUNDING;
        const value = rounded + (target[l * N + i] as number);
        target[l * N + i] = value & LIMB_MASK;
        if (!top) target[(l + 1) * N + i] = (target[(l + 1) * N + i] as number) + Math.floor(value / LIMB);
      }
    }
    product.fill(0);
  }

  function multiply(target: RingElement, factor: SmallPolynomial): void {
    if (factor.length !== N) throw new RangeError(`a factor has ${N} coefficients, not ${factor.length}`);
    const spectra = transform(target);
    target.fill(0);
    // Horner's scheme, highest digit first.
    for (const digit of signedDigits(factor, digitBits).toReversed()) {
      scale(target, 2 ** digitBits);
      addProduct(target, spectra, transformSmall(digit));
    }
    for (const spectrum of spectra) spectrum.fill(0);
  }

  function multiplyPointwise(left: Float64Array, right: Float64Array, into: Float64Array): void {
    for (let k = 0; k < half; k++) {
      const lr = left[k] as number;
      const li = left[k + half] as number;
      const rr = right[k] as number;
      const ri = right[k + half] as number;
      into[k] = lr * rr - li * ri;
      into[k + half] = lr * ri + li * rr;
    }
  }

  return {
    parameters,
    zero,
    add,
    addSmall,
    negate,
    scale,
    rotate,
    multiply,
    transform,
    transformSmall,
    addProduct,
    largestFactor,
  };
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
