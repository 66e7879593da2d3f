/** Coefficients are kept in limbs of 25 bits, so that products with ternary polynomials are exact in doubles. */
export const LIMB_BITS = 25;
/** One more than the largest value of a limb. */
export const LIMB: number = 2 ** LIMB_BITS;
/** The largest value of a limb. */
export const LIMB_MASK: number = LIMB - 1;

/**
 * q = 2^{25·limbs}. A power of two, so that the plaintext modulus t = 2^b divides it: with a prime q, ⌊q·m/t⌉
 * would leave a rounding error that depends on the message in the noise that the key holder sees.
 *
 * Security: "128-bit against quantum attacks by the HE Standard v1.1 table (log q ≤ 25 at N = 1024, 51 at 2048)",
 * for uniform ternary secrets and σ ≈ 3.2. The more pessimistic core-SVP count gives 103 bits for L1 at
 * N = 1024 and 99.9 bits for L2 at N = 2048.
 */
export interface LatticeParameters {
  readonly set: "L1" | "L2";
  /** N: slots of a ciphertext. */
  readonly dimension: 1024 | 2048 | 4096;
  /** q is 2^{25·limbs}: one limb in L1, two in L2. */
  readonly limbs: 1 | 2;
}

/** All sets, smallest ciphertext first. */
export const LATTICE_SETS: readonly [
  LatticeParameters,
  LatticeParameters,
  LatticeParameters,
  LatticeParameters,
  LatticeParameters,
] = [
  { set: "L1", dimension: 1024, limbs: 1 },
  { set: "L1", dimension: 2048, limbs: 1 },
  { set: "L2", dimension: 2048, limbs: 2 },
  { set: "L1", dimension: 4096, limbs: 1 },
  { set: "L2", dimension: 4096, limbs: 2 },
];

/** The most slots that any ciphertext has. */
export const LONGEST = 4096;

/** log₂ q. */
export function modulusBits({ limbs }: LatticeParameters): number {
  return LIMB_BITS * limbs;
}

/** One bit of every coefficient is left for noise at the least, and slots are 32-bit integers. */
export function plaintextLimit(parameters: LatticeParameters): number {
  return Math.min(30, modulusBits(parameters) - 1);
}

/** The set with these numbers: other combinations of N and q would be insecure, or share a key with their namesake. */
export function requireKnownSet(parameters: LatticeParameters): LatticeParameters {
  const known = LATTICE_SETS.find(
    ({ set, dimension, limbs }) =>
      set === parameters.set && dimension === parameters.dimension && limbs === parameters.limbs,
  );
  if (known === undefined) throw new RangeError("these lattice parameters are not one of LATTICE_SETS");
  return known;
}
