/** Below this the series of erf is used, above it the continued fraction of erfc. */
const SERIES_END = 2.5;
const SERIES_TERMS = 60;
const FRACTION_TERMS = 60;

/**
 * The probability that a standard normal variable is at least `z` away from zero, on either side: erfc(z/√2). Its
 * relative error is below 10⁻¹¹; beyond z = 38 the result is 0.
 */
export function twoSidedTail(z: number): number {
  const x = Math.abs(z) / Math.SQRT2;
  return x < SERIES_END ? 1 - erfBySeries(x) : erfcByFraction(x);
}

/** erf(x) = 2/√π·e^(−x²)·Σ 2ⁿ·x^(2n+1)/(2n+1)‼, all of whose terms are positive. */
function erfBySeries(x: number): number {
  let term = x;
  let sum = x;
  for (let n = 1; n < SERIES_TERMS; n++) {
    term *= (2 * x * x) / (2 * n + 1);
    sum += term;
  }
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
}

/** erfc(x) = e^(−x²)/√π · 1/(x + (1/2)/(x + (2/2)/(x + (3/2)/(x + …)))). */
function erfcByFraction(x: number): number {
  let below = x;
  for (let n = FRACTION_TERMS; n > 0; n--) below = x + n / 2 / below;
  return Math.exp(-x * x) / Math.sqrt(Math.PI) / below;
}
