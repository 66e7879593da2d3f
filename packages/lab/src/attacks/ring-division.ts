import { createNegacyclicFft, type LatticePublicKey, type LatticeScheme } from "@lethe/core/encryption";

/** log₂ q of the parameter sets with one limb. */
const MODULUS_BITS = 25;
const MASK = 2 ** MODULUS_BITS - 1;

/** The polynomial a of a public key, which is expanded from its seed and kept as its transform. */
export function expandedSeed({ aSpectra }: Pick<LatticePublicKey, "aSpectra">): Int32Array {
  const [spectrum, ...more] = aSpectra;
  if (spectrum === undefined || more.length > 0) throw new RangeError("division is written for q = 2^25 only");
  const a = spectrum.slice();
  createNegacyclicFft(a.length).inverse(a);
  return Int32Array.from(a, (coefficient) => Math.round(coefficient) & MASK);
}

/** A representative in [−q/2, q/2) of a number modulo q. */
export function centred(value: number, bits: number = MODULUS_BITS): number {
  return (value << (32 - bits)) >> (32 - bits);
}

/**
 * The s of a·s = product in Z_q[X]/(X^N + 1), q = 2²⁵, if its coefficients are small; something else if there is none.
 * Any integers may stand for those of the product.
 *
 * Half of all a have no inverse modulo a power of two. So both sides are multiplied by the conjugates of a, which
 * leaves norm(a)·s: f(X)·f(−X) holds even powers only, f(Y)·f(−Y) in Y = X² every fourth, and so on down to a number.
 * That is 2^k times an odd one, and s is got modulo 2^{25−k}, where k is 1 on average.
 */
export function divideInRing(
  { multiply, parameters }: Pick<LatticeScheme, "multiply" | "parameters">,
  product: Int32Array,
  a: Int32Array,
): Int32Array {
  const sides = { c0: a.slice(), c1: product.map((coefficient) => coefficient & MASK) };
  for (let stride = 1; stride < parameters.dimension; stride *= 2) {
    multiply(
      sides,
      sides.c0.map((coefficient, i) => ((i / stride) & 1 ? -coefficient : coefficient)),
    );
  }
  const norm = sides.c0[0] ?? 0;
  const bits = MODULUS_BITS - powersOfTwo(norm);
  const odd = norm >> (MODULUS_BITS - bits);
  const inverse = inverseOfOdd(odd);
  return sides.c1.map((value) => (bits === 0 ? 0 : centred(Math.imul(value >> (MODULUS_BITS - bits), inverse), bits)));
}

/** How often 2 divides a number below q; as often as it divides q if that is 0. */
function powersOfTwo(value: number): number {
  return value === 0 ? MODULUS_BITS : 31 - Math.clz32(value & -value);
}

/** Modulo 2³². */
function inverseOfOdd(value: number): number {
  // Right to 3 bits, as v² is 1 modulo 8; each round of Newton's doubles them.
  let inverse = value;
  for (let bits = 3; bits < 32; bits *= 2) inverse = Math.imul(inverse, 2 - Math.imul(value, inverse));
  return inverse;
}
