import { LIMB } from "./parameters.ts";

const EPSILON = 2 ** -53;
const TWIDDLE_ERROR = 4 * EPSILON;

/** The factor in front of ‖x‖₂·‖y‖₂ in the bound that `negacyclic-fft.ts` proves. */
function relativeProductError(dimension: number): number {
  const levels = Math.log2(dimension / 2);
  const radix4Passes = Math.floor(levels / 2);
  const radix2Passes = levels % 2;
  const complexProduct = Math.sqrt(5) * EPSILON;
  const pass = complexProduct + TWIDDLE_ERROR;
  const transform = radix4Passes * (2 * EPSILON + pass) + radix2Passes * (EPSILON + pass);
  // The first-order terms, and 1% that far exceeds all higher ones.
  return 1.01 * (3 * transform + complexProduct);
}

/** A rigorous bound on the error of one coefficient of a product of vectors with these 2-norms. */
export function productError(dimension: number, norm: number, otherNorm: number): number {
  return norm * otherNorm * relativeProductError(dimension);
}

/**
 * The largest coefficient of a small polynomial for which products with limbs in [−2²⁴, 2²⁴) are exact whatever the other
 * coefficients are. They are exact too if its 2-norm is at most that of a vector full of this.
 */
export function largestFactor(dimension: number): number {
  const root = Math.sqrt(dimension);
  return Math.floor(0.25 / productError(dimension, (LIMB / 2) * root, root));
}
