import { CENTRED_BINOMIAL_VARIANCE } from "../../randomness/centred-binomial.ts";
import type { SmallPolynomial } from "./limbs.ts";
import { createNegacyclicFft } from "./negacyclic-fft.ts";
import { type LatticeParameters, modulusBits } from "./parameters.ts";

/** What happens to a ciphertext on its way from the first encryption to the opening. */
export interface NoiseHistory {
  /** Fresh encryptions in it, rerandomizations included. */
  readonly encryptions: number;
  /** A public polynomial by which all that is multiplied, for a ring of this dimension. */
  readonly multipliedBy?: (dimension: number) => SmallPolynomial;
  /** Further fresh encryptions after the multiplication. */
  readonly encryptionsAfter?: number;
}

/** Bits that remain of each coefficient when it is sent, as in `CompactFormat`; all of them if not switched. */
export interface KeptBits {
  readonly c0Bits: number;
  readonly c1Bits: number;
}

/** log₂ of the largest acceptable probability that a coefficient decodes wrongly. */
export const LARGEST_LOG2_FAILURE = -40;

const TERNARY_VARIANCE = 2 / 3;

/**
 * The variance of one coefficient's noise before any modulus switching: one encryption has σ²·(4N/3 + 1), namely
 * −e·u + e₂ + e₁·s, and multiplication by P multiplies it by ‖P‖₂².
 */
export function noiseVariance(parameters: LatticeParameters, history: NoiseHistory): number {
  const gains = gainSpectrum(parameters, history);
  const meanGain = gains.reduce((sum, gain) => sum + gain, 0) / gains.length;
  return CENTRED_BINOMIAL_VARIANCE * (2 * parameters.dimension * TERNARY_VARIANCE + 1) * meanGain;
}

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
export function log2FailureBound(
  parameters: LatticeParameters,
  plaintextBits: number,
  history: NoiseHistory,
): (kept?: KeptBits) => number {
  const gains = countGains(gainSpectrum(parameters, history));
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
function logChernoff(
  dimension: number,
  gains: ReadonlyMap<number, number>,
  c0HalfUnit: number,
  margin: number,
): number {
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

/** G_k of the comment above, N values. */
function gainSpectrum({ dimension }: LatticeParameters, history: NoiseHistory): Float64Array {
  const { encryptions, multipliedBy, encryptionsAfter = 0 } = history;
  const gains = new Float64Array(dimension).fill(encryptions + encryptionsAfter);
  if (multipliedBy === undefined) return gains;
  const half = dimension / 2;
  const polynomial = multipliedBy(dimension);
  if (polynomial.length !== dimension) {
    throw new RangeError(`a factor has ${dimension} coefficients, not ${polynomial.length}`);
  }
  const spectrum = new Float64Array(polynomial);
  createNegacyclicFft(dimension).forward(spectrum);
  for (let k = 0; k < half; k++) {
    // The other half of the roots are the conjugates of these.
    const power = (spectrum[k] as number) ** 2 + (spectrum[k + half] as number) ** 2;
    gains[k] = encryptions * power + encryptionsAfter;
    gains[k + half] = gains[k] as number;
  }
  return gains;
}

function countGains(gains: Float64Array): Map<number, number> {
  const counts = new Map<number, number>();
  for (const gain of gains) counts.set(gain, (counts.get(gain) ?? 0) + 1);
  return counts;
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
