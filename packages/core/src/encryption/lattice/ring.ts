import type { RingElement, SmallPolynomial } from "./limbs.ts";
import { createNegacyclicFft } from "./negacyclic-fft.ts";
import { type LatticeParameters, LIMB, LIMB_BITS, LIMB_MASK } from "./parameters.ts";

/** The FFT of a small polynomial. */
type Spectrum = Float64Array;

/** The FFTs of a ring element's limbs, taken in [−2²⁴, 2²⁴), divided by N/2 for the inverse transform. */
export type LimbSpectra = readonly Float64Array[];

/** Arithmetic in R_q; what changes its first argument returns nothing. */
export interface Ring {
  readonly parameters: LatticeParameters;
  zero(): RingElement;

  /** These two overwrite and return `into`, if there is one. */
  transform(element: RingElement, into?: LimbSpectra): LimbSpectra;
  transformSmall(small: SmallPolynomial, into?: Spectrum): Spectrum;
  /**
   * Adds a product, exactly, if the factor's 2-norm is at most that of a vector full of `largestFactor(N)`, and a
   * polynomial with coefficients below 2³⁰ in absolute value.
   */
  addProduct(target: RingElement, element: LimbSpectra, factor: Spectrum, small?: SmallPolynomial): void;
}

const LIMB_HALF = LIMB / 2;
/** Adding and subtracting this rounds a double below 2⁵¹ to the nearest integer. */
const ROUNDING = 1.5 * 2 ** 52;

const rings = new Map<LatticeParameters, Ring>();

/** The ring of a parameter set; its tables are built once. */
export function ringOf(parameters: LatticeParameters): Ring {
  const ring = rings.get(parameters) ?? createRing(parameters);
  rings.set(parameters, ring);
  return ring;
}

function createRing(parameters: LatticeParameters): Ring {
  const { dimension: N, limbs } = parameters;
  const fft = createNegacyclicFft(N);
  const product = new Float64Array(N);
  const none = new Int32Array(N);

  function transform(
    element: RingElement,
    into: LimbSpectra = Array.from({ length: limbs }, () => new Float64Array(N)),
  ): LimbSpectra {
    for (let i = 0; i < N; i++) {
      // What is carried out of the top limb is a multiple of q.
      let carry = 0;
      for (let l = 0; l < limbs; l++) {
        const value = (element[l * N + i] as number) + carry;
        carry = (value + LIMB_HALF) >> LIMB_BITS;
        (into[l] as Float64Array)[i] = value - carry * LIMB;
      }
    }
    for (const spectrum of into) {
      fft.forward(spectrum);
      for (let k = 0; k < N; k++) spectrum[k] = (spectrum[k] as number) * (2 / N);
    }
    return into;
  }

  function transformSmall(small: SmallPolynomial, into: Spectrum = new Float64Array(N)): Spectrum {
    into.set(small);
    fft.forward(into);
    return into;
  }

  function addProduct(target: RingElement, element: LimbSpectra, factor: Spectrum, small = none): void {
    for (let l = 0; l < limbs; l++) {
      multiplyPointwise(element[l] as Float64Array, factor, product);
      fft.inverse(product);
      const top = l + 1 === limbs;
      const addend = l === 0 ? small : none;
      for (let i = 0; i < N; i++) {
        const rounded = (product[i] as number) + ROUNDING - ROUNDING;
        const value = rounded + (target[l * N + i] as number) + (addend[i] as number);
        target[l * N + i] = value & LIMB_MASK;
        if (!top) target[(l + 1) * N + i] = (target[(l + 1) * N + i] as number) + Math.floor(value / LIMB);
      }
    }
    product.fill(0);
  }

  return {
    parameters,
    zero: () => new Int32Array(limbs * N),
    transform,
    transformSmall,
    addProduct,
  };
}

function multiplyPointwise(left: Float64Array, right: Float64Array, into: Float64Array): void {
  const half = into.length / 2;
  for (let k = 0; k < half; k++) {
    const lr = left[k] as number;
    const li = left[k + half] as number;
    const rr = right[k] as number;
    const ri = right[k + half] as number;
    into[k] = lr * rr - li * ri;
    into[k + half] = lr * ri + li * rr;
  }
}
