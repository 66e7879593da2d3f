import { type Coin, logBinomial, reachOf } from "./binomial.ts";

/** Probabilities of consecutive integers; those left out have e^{−50} together on each side. */
export interface Distribution {
  readonly first: number;
  readonly probabilities: Float64Array;
}

/**
 * The distribution of Bin(u, one) + Bin(v, zero): how many of u + v people, u of whom hold a 1, tell a 1.
 *
 * With generating function G = (β₁+α₁z)^u·(β₀+α₀z)^v, multiplying zG′/G by (β₁+α₁z)(β₀+α₀z) gives for F(y) = Pr[sum =
 * y]
 *   β₁β₀·y·F(y) = (α₁β₀(u−y+1) + α₀β₁(v−y+1))·F(y−1) + α₁α₀(u+v−y+2)·F(y−2),
 * and, counting tails for heads, the same downwards. The coefficients are not negative upwards for y ≤ m+1 and
 * downwards for y ≥ m−1, where m = (uα₁β₀ + vα₀β₁)/(α₁β₀ + α₀β₁); there nothing cancels, so each half is computed in
 * its own direction from two values at its end. Relative errors stay near 10⁻¹⁶ times the number of steps.
 */
export function sumOfCoins(u: number, one: Coin, v: number, zero: Coin): Distribution {
  const n = u + v;
  const mean = u * one.heads + v * zero.heads;
  const reach = reachOf(u * one.heads * one.tails + v * zero.heads * zero.tails);
  const first = Math.max(0, Math.floor(mean - reach));
  const last = Math.min(n, Math.ceil(mean + reach));
  const probabilities = new Float64Array(last - first + 1);
  const upward = one.heads * zero.tails;
  const downward = zero.heads * one.tails;
  const middle = Math.floor((u * upward + v * downward) / (upward + downward));
  const split = Math.max(first - 1, Math.min(last, middle));
  // Up to the split from below, the rest from above.
  climb(probabilities.subarray(0, split - first + 1), first, u, one, v, zero);
  const swap = ({ heads, tails }: Coin): Coin => ({ heads: tails, tails: heads });
  const above = probabilities.subarray(split - first + 1);
  climb(above, n - last, u, swap(one), v, swap(zero));
  above.reverse();
  return { first, probabilities };
}

/** Doubles below lose digits; what is so improbable counts as impossible. */
const LEAST = 1e-280;

/** Fills `into` with the probabilities of first, first + 1, … by the upward recurrence. */
function climb(into: Float64Array, first: number, u: number, one: Coin, v: number, zero: Coin): void {
  const n = u + v;
  let start = 0;
  while (start < into.length && probabilityOf(first + start, u, one, v, zero) < LEAST) start++;
  for (let i = start; i < Math.min(start + 2, into.length); i++) into[i] = probabilityOf(first + i, u, one, v, zero);
  const upward = one.heads * zero.tails;
  const downward = zero.heads * one.tails;
  const both = one.heads * zero.heads;
  const divisor = one.tails * zero.tails;
  for (let i = start + 2; i < into.length; i++) {
    const y = first + i;
    const last = upward * (u - y + 1) + downward * (v - y + 1);
    into[i] = (last * (into[i - 1] as number) + both * (n - y + 2) * (into[i - 2] as number)) / (divisor * y);
  }
}

/** One probability, as the sum over how many of the u are heads: outward from the largest term. */
function probabilityOf(y: number, u: number, one: Coin, v: number, zero: Coin): number {
  const least = Math.max(0, y - v);
  const most = Math.min(u, y);
  const odds = ((one.heads / one.tails) * zero.tails) / zero.heads;
  /** The term of j + 1 divided by that of j; decreases in j. */
  const ratio = (j: number): number => ((u - j) / (j + 1)) * ((y - j) / (v - y + j + 1)) * odds;
  let low = least;
  let high = most;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (ratio(middle) >= 1) low = middle + 1;
    else high = middle;
  }
  let sum = 1;
  for (let j = low, term = 1; j < most; j++) {
    term *= ratio(j);
    sum += term;
    if (term < 1e-17) break;
  }
  for (let j = low, term = 1; j > least; j--) {
    term /= ratio(j - 1);
    sum += term;
    if (term < 1e-17) break;
  }
  return sum * Math.exp(logBinomial(u, one, low) + logBinomial(v, zero, y - low));
}
