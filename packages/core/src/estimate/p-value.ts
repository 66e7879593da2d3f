import { millsRatio } from "../privacy/accounting/normal-tail.ts";

/** Below this the Mills ratio is not exact. */
const SERIES_END = 1;
const SERIES_TERMS = 20;

/**
 * The probability that a standard normal variable is at least |z| away from zero, on either side. Its relative error is
 * below 10⁻¹²; beyond |z| = 38 it is 0.
 */
export function twoSidedTail(z: number): number {
  const t = Math.abs(z);
  const density = Math.exp((-t * t) / 2) / Math.sqrt(2 * Math.PI);
  if (t >= SERIES_END) return density === 0 ? 0 : 2 * density * millsRatio(t);
  // Pr[−t < N < t] = 2·φ(t)·Σ t^(2n+1)/(2n+1)‼, all of whose terms are positive.
  let term = t;
  let sum = t;
  for (let n = 1; n < SERIES_TERMS; n++) {
    term *= (t * t) / (2 * n + 1);
    sum += term;
  }
  return 1 - 2 * density * sum;
}
