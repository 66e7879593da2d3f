import type { Randomness } from "./randomness.ts";

/**
 * Sums of many independent samples, drawn at once: the cost hardly depends on how many there are.
 *
 * Both sums are symmetric. A table has the distribution of the magnitude |S|, and a fair bit decides the sign: S and −S are
 * equally likely, whatever rounding the table has. The table holds C_j = ⌊2¹⁹²·Pr[|S| ≤ j]⌋. For u uniform below 2¹⁹², the number
 * of C_j ≤ u then has the distribution of |S|, up to rounding.
 *
 * **Distance from the true distribution.** A sum of up to 4,096 samples has a table of fewer than 2¹³ entries; callers draw larger sums in
 * parts. Ternary weights are exact. Binomial weights are rounded down at each step, by less than 2¹³ of 2²⁵⁶ each. Rounding the C_j, and
 * leaving out those that are at least 2¹⁹² − 1, costs at most 2¹⁴·2⁻¹⁹². A sum is thus within 2⁻¹⁷⁷ of the true distribution in total
 * variation. A report of sixteen ciphertexts has three vectors of 4,096 sums each, in at most 100 parts: it is within
 * 2²⁵·2⁻¹⁷⁷ = 2⁻¹⁵².
 *
 * **Time.** Sampling looks at 32 bits of u first. They decide except with probability (entries)·2⁻³²; then 160 more are drawn. The
 * path of the search shows in memory accesses, as with any table. The table itself depends on public numbers only.
 */
interface SumTable {
  /** ⌊C_j / 2¹⁶⁰⌋, not decreasing. */
  readonly top: Uint32Array;
  /** C_j. */
  readonly exact: readonly bigint[];
}

/** The most samples of a sum. Callers add larger sums in parts. */
export const MOST_SUMMED = 4096;
/** The C_j that is left out, as are all after it. */
const LARGEST = (1n << 192n) - 1n;

/** In proportion to Pr[S = j], j = 0, 1, 2, …: with h = 21·count, C(2h, h + j) / C(2h, h), by the ratio of neighbours. */
function binomialWeights(count: number): bigint[] {
  const h = 21n * BigInt(count);
  const weights = [];
  let j = 0n;
  for (let weight = 1n << 256n; weight > 0n; j++) {
    weights.push(weight);
    weight = (weight * (h - j)) / (h + j + 1n);
  }
  return weights;
}

/**
 * In proportion to Pr[S = j]: the coefficients a_k of (1 + x + x²)^count, k = count − j. From (1 + x + x²)·f′ = count·(1 + 2x)·f follows
 * (k+1)·a_{k+1} = (count − k)·a_k + (2·count − k + 1)·a_{k−1}.
 */
function ternaryWeights(count: number): bigint[] {
  const n = BigInt(count);
  const weights = [];
  let before = 0n;
  let weight = 1n;
  for (let k = 0n; k <= n; k++) {
    weights.push(weight);
    [before, weight] = [weight, ((n - k) * weight + (2n * n - k + 1n) * before) / (k + 1n)];
  }
  return weights.reverse();
}

function cumulative(weights: readonly bigint[]): SumTable {
  // Every magnitude but 0 has two signs.
  let sum = -(weights[0] as bigint);
  const total = weights.reduce((all, weight) => all + 2n * weight, sum);
  const exact = [];
  for (const weight of weights) {
    sum += 2n * weight;
    const c = (sum << 192n) / total;
    if (c >= LARGEST) break;
    exact.push(c);
  }
  return { exact, top: Uint32Array.from(exact, (c) => Number(c >> 160n)) };
}

/** What samples can be summed. */
type Summed = "ternary" | "binomial";
const WEIGHTS: Readonly<Record<Summed, (count: number) => bigint[]>> = {
  ternary: ternaryWeights,
  binomial: binomialWeights,
};
/** A window needs two numbers of samples: those that are missing, and those of a decoy. */
const MOST_TABLES = 8;
const tables = new Map<string, SumTable>();

/**
 * Adds to every entry of `sums` the sum of `count` independent samples, at most `MOST_SUMMED`: uniform elements of {−1, 0, 1}, or centred
 * binomial samples as `addCentredBinomial` draws them.
 */
export function addSummed(kind: Summed, random: Randomness, count: number, sums: Int32Array): void {
  const name = kind + count;
  if (tables.size > MOST_TABLES) tables.clear();
  const table = tables.get(name) ?? cumulative(WEIGHTS[kind](count));
  tables.set(name, table);
  addFrom(table, random, sums);
}

function addFrom({ top, exact }: SumTable, random: Randomness, sums: Int32Array): void {
  const words = new Uint32Array(sums.length + Math.ceil(sums.length / 32));
  random(new Uint8Array(words.buffer));
  for (let i = 0; i < sums.length; i++) {
    const word = words[i] as number;
    let low = 0;
    for (let high = top.length; low < high; ) {
      const middle = (low + high) >>> 1;
      if ((top[middle] as number) <= word) low = middle + 1;
      else high = middle;
    }
    if (top[low - 1] === word) {
      const rest = new Uint8Array(20);
      random(rest);
      const u = rest.reduce((bits, byte) => (bits << 8n) | BigInt(byte), BigInt(word));
      while ((exact[low - 1] ?? 0n) > u) low--;
    }
    const sign = ((words[sums.length + (i >>> 5)] as number) >>> (i & 31)) & 1;
    sums[i] = (sums[i] as number) + (low ^ -sign) + sign;
  }
  words.fill(0);
}
