import type { Summed } from "./sum-bounds.ts";

/**
 * The number of j with ⌊2¹⁹²·Pr[|S| ≤ j]⌋ ≤ u, for a sum S of `count` samples; u is made of a word and 20 more bytes, the
 * most significant first.
 *
 * Ternary weights are exact. Binomial weights are rounded down at each step, by less than 2¹³ of 2²⁵⁶ each, and all that
 * are left out are less than 2²⁵ together: that changes a probability by less than 2⁻²²⁵.
 */
export function exactMagnitude(kind: Summed, count: number, word: number, rest: Uint8Array): number {
  const u = rest.reduce((bits, byte) => (bits << 8n) | BigInt(byte), BigInt(word));
  const weights = kind === "ternary" ? ternaryWeights(BigInt(count)) : binomialWeights(21n * BigInt(count));
  // Every magnitude but 0 has two signs.
  let sum = -(weights[0] as bigint);
  const total = weights.reduce((all, weight) => all + 2n * weight, sum);
  return weights.findIndex((weight) => {
    sum += 2n * weight;
    return sum << 192n >= (u + 1n) * total;
  });
}

/** In proportion to Pr[S = j], j = 0, 1, 2, …: C(2h, h + j) / C(2h, h), by the ratio of neighbours. */
function binomialWeights(h: bigint): bigint[] {
  const weights = [];
  let j = 0n;
  for (let weight = 1n << 256n; weight > 0n; j++) {
    weights.push(weight);
    weight = (weight * (h - j)) / (h + j + 1n);
  }
  return weights;
}

/**
 * In proportion to Pr[S = j]: the coefficients a_k of (1 + x + x²)ⁿ, k = n − j. From (1 + x + x²)·f′ = n·(1 + 2x)·f follows
 * (k+1)·a_{k+1} = (n − k)·a_k + (2n − k + 1)·a_{k−1}.
 */
function ternaryWeights(n: bigint): bigint[] {
  const weights = [];
  let before = 0n;
  let weight = 1n;
  for (let k = 0n; k <= n; k++) {
    weights.push(weight);
    [before, weight] = [weight, ((n - k) * weight + (2n * n - k + 1n) * before) / (k + 1n)];
  }
  return weights.reverse();
}
