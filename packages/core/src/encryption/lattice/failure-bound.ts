import { CENTRED_BINOMIAL_VARIANCE } from "../../randomness/centred-binomial.ts";
import { type LatticeParameters, modulusBits } from "./parameters.ts";

/** By how much each of the N singular values of a ciphertext's path multiplies a variance: G_k below, and how often. */
export type Gains = ReadonlyMap<number, number>;

/** Of fresh encryptions that are added up and not multiplied. */
export function flatGains({ dimension }: LatticeParameters, { encryptions }: { readonly encryptions: number }): Gains {
  return new Map([[encryptions, dimension]]);
}

/** Bits that remain of each coefficient when it is sent, as in `CompactFormat`; all of them if not switched. */
export interface KeptBits {
  readonly c0Bits: number;
  readonly c1Bits: number;
}

/** log₂ of the largest acceptable probability that a coefficient decodes wrongly. */
export const LARGEST_LOG2_FAILURE = -40;

/** Of a uniform ternary sample. */
export const TERNARY_VARIANCE: number = 2 / 3;

/**
 * log₂ of an upper bound on the probability that one coefficient decodes wrongly, as a function of the bits that are
 * sent.
 *
 * Opening gives (q/t)·m + P·(−e·U + E₂ + E₁·s) + (the same for encryptions after P) + r₀·s + r₁, where U, E₁, E₂ are
 * sums of c fresh samples, r₀ and r₁ the rounding of the modulus switch, |r₁| ≤ q/2^{c1Bits+1}. It decodes wrongly only
 * if all but r₁ exceeds B = q/2t − |r₁|. Chernoff: Pr[|Z| ≥ B] ≤ 2·E[e^{λZ}]·e^{−λB} for any λ.
 *
 * All samples are strictly sub-Gaussian, E[e^{λx}] ≤ e^{λ²·Var(x)/2}: ternary because (1 + 2cosh λ)/3 ≤ e^{λ²/3} term
 * by term, centred binomial because cosh(λ/2)^{42} ≤ e^{42·λ²/8}, uniform on an interval likewise. For independent
 * vectors x, y of such entries with variances α, β and a linear map L, conditioning on y and then comparing with a
 * Gaussian vector gives E[e^{λ·xᵀLy}] ≤ Π_k (1 − λ²αβ·g_k)^{−1/2}, with g_k the squared singular values of L. Products
 * in the ring are such maps; for P they are |P̂(ω_k)|² at the N odd 2N-th roots of unity. e meets U, and s meets both
 * E₁ and r₀, so with G_k = c·|P̂(ω_k)|² + (encryptions after):
 *
 *   log E[e^{λZ}] ≤ −½Σ_k log(1 − λ²·⅔·σ²·G_k) − ½Σ_k log(1 − λ²·⅔·(σ²·G_k + h₀²/3)) + λ²σ²·mean(G)/2
 *
 * with h₀ = q/2^{c0Bits+1}. Rigorous but for one assumption: r₀ is taken as uniform and independent of the key and of
 * all samples. It is minus the low bits of c₀ = a·U + E₁, for a uniform a independent of the rest, and exactly uniform
 * when the coefficients of U have an odd sum. Rounding halves up gives r₀ the values −h₀+1, …, h₀, of mean ½; that
 * shifts Z by at most N/2, which is taken off B.
 */
export function failureBound(
  parameters: LatticeParameters,
  plaintextBits: number,
  gains: Gains,
): (kept?: KeptBits) => number {
  const qBits = modulusBits(parameters);
  return (kept = { c0Bits: qBits, c1Bits: qBits }) => {
    const halfUnit = (bits: number): number => (bits === qBits ? 0 : 2 ** (qBits - bits - 1));
    const shift = kept.c0Bits === qBits ? 0 : parameters.dimension / 2;
    const margin = 2 ** (qBits - plaintextBits - 1) - halfUnit(kept.c1Bits) - shift;
    if (margin <= 0) return 0;
    return Math.min(0, logChernoff(parameters.dimension, gains, halfUnit(kept.c0Bits), margin) / Math.LN2);
  };
}

/** log of the least 2·E[e^{λZ}]·e^{−λB} found. */
function logChernoff(dimension: number, gains: Gains, c0HalfUnit: number, margin: number): number {
  const sigma2 = CENTRED_BINOMIAL_VARIANCE;
  const rounding = c0HalfUnit ** 2 / 3;
  const at = (lambda: number): number => {
    const l2 = lambda * lambda;
    let log = Math.LN2 - lambda * margin;
    for (const [gain, count] of gains) {
      const eu = 1 - l2 * TERNARY_VARIANCE * sigma2 * gain;
      const es = 1 - l2 * TERNARY_VARIANCE * (sigma2 * gain + rounding);
      if (es <= 0) return Number.POSITIVE_INFINITY;
      log -= (count / 2) * (Math.log(eu) + Math.log(es));
      log += (l2 * sigma2 * gain * count) / (2 * dimension);
    }
    return log;
  };
  const largestGain = Math.max(...gains.keys());
  return minimum(at, 0, 1 / Math.sqrt(TERNARY_VARIANCE * (sigma2 * largestGain + rounding)));
}

/** The least value met while narrowing in on the minimum of a convex function; any value is a valid bound. */
function minimum(f: (x: number) => number, low: number, high: number): number {
  let left = low;
  let right = high;
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < 60; i++) {
    const a = left + (right - left) / 3;
    const b = right - (right - left) / 3;
    const fa = f(a);
    const fb = f(b);
    least = Math.min(least, fa, fb);
    if (fa <= fb) right = b;
    else left = a;
  }
  return least;
}
