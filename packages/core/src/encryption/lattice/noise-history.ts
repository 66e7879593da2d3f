import { CENTRED_BINOMIAL_VARIANCE } from "../../randomness/centred-binomial.ts";
import { failureBound, type Gains, type KeptBits, TERNARY_VARIANCE } from "./failure-bound.ts";
import type { SmallPolynomial } from "./limbs.ts";
import { createNegacyclicFft } from "./negacyclic-fft.ts";
import type { LatticeParameters } from "./parameters.ts";

/** What happens to a ciphertext on its way from the first encryption to the opening. */
export interface NoiseHistory {
  /** Fresh encryptions in it, rerandomizations included. */
  readonly encryptions: number;
  /** A public polynomial by which all that is multiplied, for a ring of this dimension. */
  readonly multipliedBy?: (dimension: number) => SmallPolynomial;
  /** Further fresh encryptions after the multiplication. */
  readonly encryptionsAfter?: number;
}

/**
 * The variance of one coefficient's noise before any modulus switching: one encryption has σ²·(4N/3 + 1), namely
 * −e·u + e₂ + e₁·s, and multiplication by P multiplies it by ‖P‖₂².
 */
export function noiseVariance(parameters: LatticeParameters, history: NoiseHistory): number {
  const gains = gainSpectrum(parameters, history);
  const meanGain = gains.reduce((sum, gain) => sum + gain, 0) / gains.length;
  return CENTRED_BINOMIAL_VARIANCE * (2 * parameters.dimension * TERNARY_VARIANCE + 1) * meanGain;
}

/** `failureBound` of everything that happens to a ciphertext. */
export function log2FailureBound(
  parameters: LatticeParameters,
  plaintextBits: number,
  history: NoiseHistory,
): (kept?: KeptBits) => number {
  return failureBound(parameters, plaintextBits, gainsOf(parameters, history));
}

/** G_k of `failureBound`, N values. */
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

/** The gains of everything that happens to a ciphertext. */
export function gainsOf(parameters: LatticeParameters, history: NoiseHistory): Gains {
  const counts = new Map<number, number>();
  for (const gain of gainSpectrum(parameters, history)) counts.set(gain, (counts.get(gain) ?? 0) + 1);
  return counts;
}
