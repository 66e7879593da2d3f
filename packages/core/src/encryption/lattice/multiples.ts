import { requireWhole } from "../../error.ts";
import type { RingElement } from "./limbs.ts";
import { type LatticeParameters, LIMB, LIMB_BITS, LIMB_MASK } from "./parameters.ts";

// Apart from `limbs.ts`, because devices load this for rotations only.

/** Negates the coefficients from `from` to before `to`. */
export function negateRange(
  { dimension: N, limbs }: LatticeParameters,
  target: RingElement,
  from: number,
  to: number,
): void {
  for (let i = from; i < to; i++) {
    const low = -(target[i] as number);
    target[i] = low & LIMB_MASK;
    if (limbs === 2) target[N + i] = ((low >> LIMB_BITS) - (target[N + i] as number)) & LIMB_MASK;
  }
}

/** Multiplies by a public integer below 2²⁵ in absolute value. */
export function scaleElement(parameters: LatticeParameters, target: RingElement, factor: number): void {
  requireWhole("a factor", factor, -LIMB_MASK, LIMB_MASK);
  const { dimension: N, limbs } = parameters;
  const size = Math.abs(factor);
  for (let i = 0; i < N; i++) {
    let carry = 0;
    for (let l = 0; l < limbs; l++) {
      // Below 2⁵⁰ + 2²⁵: exact in doubles.
      const value = (target[l * N + i] as number) * size + carry;
      carry = Math.floor(value / LIMB);
      target[l * N + i] = value - carry * LIMB;
    }
  }
  if (factor < 0) negateRange(parameters, target, 0, N);
}
