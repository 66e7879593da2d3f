import { type LatticeParameters, LIMB, LIMB_BITS, LIMB_MASK } from "./parameters.ts";

/**
 * An element of R_q = Z_q[X]/(X^N + 1), q = 2^{25·limbs}: limb l of coefficient i at [l·N + i], every limb in
 * [0, 2²⁵). All operations work in place, so that no older version of a ciphertext is left behind in memory.
 */
export type RingElement = Int32Array;

/** A polynomial with small integer coefficients, any sign, N of them: samples, keys, weights. */
export type SmallPolynomial = Int32Array;

/** Adds `other` to `target`, in place. */
export function addElement({ dimension: N, limbs }: LatticeParameters, target: RingElement, other: RingElement): void {
  for (let i = 0; i < N; i++) {
    const low = (target[i] as number) + (other[i] as number);
    target[i] = low & LIMB_MASK;
    if (limbs === 2) {
      target[N + i] = ((target[N + i] as number) + (other[N + i] as number) + (low >> LIMB_BITS)) & LIMB_MASK;
    }
  }
}

/** Coefficient i in [0, q), q ≤ 2⁵⁰: exact in a double. */
export function coefficient({ dimension: N, limbs }: LatticeParameters, element: RingElement, i: number): number {
  return (element[i] as number) + (limbs === 2 ? (element[N + i] as number) * LIMB : 0);
}

/** Adds a value in [0, q) to coefficient i. */
export function addToCoefficient(
  { dimension: N, limbs }: LatticeParameters,
  element: RingElement,
  i: number,
  value: number,
): void {
  const high = Math.floor(value / LIMB);
  const low = (element[i] as number) + (value - high * LIMB);
  element[i] = low & LIMB_MASK;
  if (limbs === 2) element[N + i] = ((element[N + i] as number) + high + (low >> LIMB_BITS)) & LIMB_MASK;
}
