import type { Randomness } from "../randomness/index.ts";
import { bernoulliExp, drawDiscreteLaplace } from "./discrete-laplace.ts";

/** N_Z(0, σ²): the integer x with probability proportional to e^{−x²/2σ²}; σ² = numerator/denominator. */
export interface DiscreteGaussian {
  readonly numerator: bigint;
  readonly denominator: bigint;
  /** σ², the parameter. */
  readonly sigma2: number;
  /** No sample is larger in absolute value, but for a probability below 2⁻⁶⁴. */
  readonly reach: number;
}

const DENOMINATOR_BITS = 20;
/** Wider noise would take seconds to account for. */
export const MOST_SIGMA = 1e6;

/** σ² rounded up to a multiple of 2⁻²⁰; in lowest terms, as drawing takes several times as long with large ones. */
export function createDiscreteGaussian(sigma: number): DiscreteGaussian {
  if (!(sigma > 0 && sigma <= MOST_SIGMA)) {
    throw new RangeError(`sigma is a number above 0 and at most ${MOST_SIGMA}, not ${sigma}`);
  }
  let denominator = 2 ** DENOMINATOR_BITS;
  let numerator = Math.ceil(sigma * sigma * denominator);
  for (; denominator > 1 && numerator % 2 === 0; numerator /= 2) denominator /= 2;
  const sigma2 = numerator / denominator;
  return {
    numerator: BigInt(numerator),
    denominator: BigInt(denominator),
    sigma2,
    reach: reachOf(sigma2),
  };
}

/** Sub-Gaussian [CKS20]: Pr[|X| ≥ r] ≤ 2·e^{−r²/2σ²}, which is 2⁻⁶⁴ at r = σ·√(130·ln 2). */
function reachOf(sigma2: number): number {
  return Math.ceil(Math.sqrt(sigma2 * 130 * Math.LN2));
}

/** σ² up to rounding from σ = 2 on, less for narrow ones. */
export function discreteGaussianVariance({ sigma2 }: DiscreteGaussian): number {
  if (sigma2 >= 4) return sigma2;
  let sum = 0;
  for (let x = 1; x <= reachOf(sigma2); x++) sum += 2 * x * x * Math.exp(-(x * x) / (2 * sigma2));
  return sum / totalWeight(sigma2);
}

/**
 * [CKS20, Alg. 3]: a discrete Laplace with scale t = ⌊σ⌋ + 1, accepted with probability e^{−(|y| − σ²/t)²/2σ²}.
 * Integers only, so it has exactly the distribution whose privacy is accounted for. It would with any t, which decides
 * only how many are accepted.
 */
export function drawDiscreteGaussian({ numerator, denominator }: DiscreteGaussian, random: Randomness): bigint {
  const t = BigInt(Math.floor(Math.sqrt(Number(numerator / denominator)))) + 1n;
  for (;;) {
    const y = drawDiscreteLaplace(random, 1n, t);
    // (|y| − n/(d·t))² / (2n/d) = (|y|·d·t − n)² / (2·n·d·t²)
    const distance = (y < 0n ? -y : y) * denominator * t - numerator;
    if (bernoulliExp(random, distance * distance, 2n * numerator * denominator * t * t)) return y;
  }
}

/**
 * Σ_x e^{−x²/2σ²}; by Poisson summation σ√(2π)·(1 + 2e^{−2π²σ²} + …), and the bracket is 1 in doubles from σ = 2 on.
 */
export function totalWeight(sigma2: number): number {
  if (sigma2 >= 4) return Math.sqrt(2 * Math.PI * sigma2);
  let total = 1;
  for (let x = 1; x <= reachOf(sigma2); x++) total += 2 * Math.exp(-(x * x) / (2 * sigma2));
  return total;
}
