/** A coin: heads with probability `heads`. Both are kept, since 1 − 10⁻¹² would lose digits of the smaller. */
export interface Coin {
  readonly heads: number;
  readonly tails: number;
}

/** Tails of e^{−50} are left out of all sums: they are far below the smallest δ we state, 10⁻¹⁵. */
const LEFT_OUT = 50;

/**
 * How far a sum of independent coins with this variance strays from its mean, but for a probability of e^{−50} on each
 * side [Bernstein]: Pr[X − E X ≥ d] ≤ e^{−d²/(2v + 2d/3)}.
 */
export function reachOf(variance: number): number {
  return LEFT_OUT / 3 + Math.sqrt((LEFT_OUT * LEFT_OUT) / 9 + 2 * LEFT_OUT * variance);
}

const LOG_2_PI = Math.log(2 * Math.PI);
const SMALL = 16;
/** ln n! − ln(√(2πn)·(n/e)ⁿ) for n < 16. */
const STIRLING_ERRORS = stirlingErrors();

function stirlingErrors(): Float64Array {
  const errors = new Float64Array(SMALL);
  let factorial = 1;
  for (let n = 1; n < SMALL; n++) {
    factorial *= n;
    errors[n] = Math.log(factorial) - (n + 0.5) * Math.log(n) + n - LOG_2_PI / 2;
  }
  return errors;
}

function stirlingError(n: number): number {
  if (n < SMALL) return STIRLING_ERRORS[n] as number;
  const m = 1 / (n * n);
  return (1 / 12 - m * (1 / 360 - m * (1 / 1260 - m * (1 / 1680 - m / 1188)))) / n;
}

/** x·ln(x/mean) − distance, where distance = x − mean, without cancellation near the mean. */
function deviance(x: number, mean: number, distance: number): number {
  const v = distance / (x + mean);
  if (Math.abs(v) >= 0.1) return x * Math.log(x / mean) - distance;
  let sum = distance * v;
  let power = 2 * x * v;
  for (let j = 3; ; j += 2) {
    power *= v * v;
    const next = sum + power / j;
    if (next === sum) return sum;
    sum = next;
  }
}

/**
 * ln Pr[Bin(n, coin) = x], accurate for n up to 10⁹ [Loader, Fast and accurate computation of binomial probabilities,
 * 2000].
 */
export function logBinomial(n: number, { heads, tails }: Coin, x: number): number {
  if (x === 0) return n * (heads < tails ? Math.log1p(-heads) : Math.log(tails));
  if (x === n) return n * (tails < heads ? Math.log1p(-tails) : Math.log(heads));
  // From the rarer side, whose mean is rounded less.
  const distance = heads < tails ? x - n * heads : n * tails - (n - x);
  return (
    stirlingError(n) -
    stirlingError(x) -
    stirlingError(n - x) -
    deviance(x, n * heads, distance) -
    deviance(n - x, n * tails, -distance) +
    (Math.log(n / (x * (n - x))) - LOG_2_PI) / 2
  );
}

/**
 * Pr[X ≤ most] and E[X; X ≤ most] for X = Bin(n, coin), by adding up the shorter side. Absolute errors near 10⁻¹⁵,
 * enough for averages over X.
 */
export function lowerPart(n: number, coin: Coin, most: number): { probability: number; mean: number } {
  const mean = n * coin.heads;
  if (most >= n) return { probability: 1, mean };
  if (most < 0) return { probability: 0, mean: 0 };
  if (most < mean) return tailSum(n, coin, most, -1);
  const upper = tailSum(n, coin, most + 1, 1);
  return { probability: 1 - upper.probability, mean: mean - upper.mean };
}

/** Adds Pr[X = x] and x·Pr[X = x] from `start` away from the mean, until further terms do not count. */
function tailSum(
  n: number,
  { heads, tails }: Coin,
  start: number,
  step: 1 | -1,
): { probability: number; mean: number } {
  const odds = heads / tails;
  let term = Math.exp(logBinomial(n, { heads, tails }, start));
  let probability = 0;
  let mean = 0;
  for (let x = start; term > probability * 1e-17 && x >= 0 && x <= n; x += step) {
    probability += term;
    mean += x * term;
    term *= step > 0 ? ((n - x) / (x + 1)) * odds : x / (n - x + 1) / odds;
  }
  return { probability, mean };
}
