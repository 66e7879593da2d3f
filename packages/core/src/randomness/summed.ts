import type { Randomness } from "./randomness.ts";

/**
 * Sums of many independent samples, drawn at once: the cost does not depend on how many there are.
 *
 * Both sums are symmetric. A table has the distribution of the magnitude |S|, and a fair bit decides the sign: S and −S are
 * equally likely, whatever rounding the table has. The table holds C_j = ⌊2¹⁹²·Pr[|S| ≤ j]⌋. For u uniform below 2¹⁹², the number
 * of C_j ≤ u then has the distribution of |S|, up to rounding.
 *
 * **Distance from the true distribution**, for up to 2¹⁹ summed samples, more than any window allows. The weights follow from
 * recurrences with positive terms, each step rounded down. Ternary weights keep at least 173 bits, so their relative error stays below
 * 2²⁰·2⁻¹⁷³. Binomial weights are off by less than 2¹⁷ of 2¹⁹² in all, weights below 1 included, which are dropped. Rounding the C_j adds
 * (entries)·2⁻¹⁹², below 2¹⁷⁻¹⁹². Together a sample is within 2⁻¹⁵² of the true distribution in total variation. A report of sixteen
 * ciphertexts, with three vectors of 4,096 samples each, is within 2¹⁸·2⁻¹⁵² = 2⁻¹³⁴.
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

const TABLE_BITS = 192n;
const TOP_BITS = 32n;
const REST_BYTES = 20;
const WEIGHT_BITS = 192n;

/** Adds to every entry of `sums` the sum of `count` independent uniform elements of {−1, 0, 1}. */
export function addSummedTernary(random: Randomness, count: number, sums: Int32Array): void {
  addFrom(tableOf("ternary", count), random, sums);
}

/** Adds to every entry of `sums` the sum of `count` independent centred binomial samples, as of `addCentredBinomial`. */
export function addSummedCentredBinomial(random: Randomness, count: number, sums: Int32Array): void {
  addFrom(tableOf("binomial", count), random, sums);
}

const WEIGHTS = { ternary: ternaryWeights, binomial: binomialWeights };
/** A window needs two numbers of samples at most: those that are missing, and those of a decoy. */
const MOST_TABLES = 4;
const tables = new Map<string, SumTable>();

function tableOf(kind: keyof typeof WEIGHTS, count: number): SumTable {
  const name = kind + count;
  const table = tables.get(name) ?? cumulative(WEIGHTS[kind](count));
  tables.delete(name);
  tables.set(name, table);
  // The one that was not used for longest.
  for (const oldest of tables.keys()) if (tables.size > MOST_TABLES) tables.delete(oldest);
  return table;
}

/** Of the magnitudes 0, 1, 2, …; weights of single values, so that a magnitude above 0 counts twice. */
function cumulative(weights: readonly bigint[]): SumTable {
  const total = weights.reduce((sum, weight, j) => sum + (j > 0 ? 2n * weight : weight), 0n);
  // One division for all.
  const scale = (1n << (TABLE_BITS + 2n * WEIGHT_BITS)) / total;
  let sum = 0n;
  const exact = weights.slice(0, -1).map((weight, j) => {
    sum += j > 0 ? 2n * weight : weight;
    return (sum * scale) >> (2n * WEIGHT_BITS);
  });
  return { exact, top: Uint32Array.from(exact, (c) => Number(c >> (TABLE_BITS - TOP_BITS))) };
}

/** In proportion to Pr[S = j]: with h = 21·count, C(2h, h + j) / C(2h, h), by the ratio of neighbours. */
function binomialWeights(count: number): bigint[] {
  const h = 21n * BigInt(count);
  const weights = [];
  let j = 0n;
  for (let weight = 1n << WEIGHT_BITS; weight > 0n; j++) {
    weights.push(weight);
    weight = (weight * (h - j)) / (h + j + 1n);
  }
  return weights;
}

/**
 * In proportion to Pr[S = j]: the coefficients a_k of (1 + x + x²)^count, k = count − j. From (1 + x + x²)·f′ = count·(1 + 2x)·f follows
 * (k+1)·a_{k+1} = (count − k)·a_k + (2·count − k + 1)·a_{k−1}, positive terms for k ≤ count. Weights grow towards the centre; they are kept to 173
 * bits at least; those below 2⁻¹⁹² of the largest are dropped.
 */
function ternaryWeights(count: number): bigint[] {
  const n = BigInt(count);
  const found: { weight: bigint; shifts: number }[] = [];
  let [before, weight] = [0n, 1n << WEIGHT_BITS];
  let shifts = 0;
  for (let k = 0n; ; k++) {
    found.push({ weight, shifts });
    if (k === n) break;
    [before, weight] = [weight, ((n - k) * weight + (2n * n - k + 1n) * before) / (k + 1n)];
    if (weight >> (2n * WEIGHT_BITS) > 0n) {
      shifts++;
      [before, weight] = [before >> WEIGHT_BITS, weight >> WEIGHT_BITS];
    }
  }
  const weights = [];
  // The centre is as large as it gets: bring it to about 192 bits.
  const size = BigInt(weight.toString(16).length * 4) - WEIGHT_BITS;
  for (const { weight: kept, shifts: own } of found.reverse()) {
    const scaled = kept >> (size + BigInt(shifts - own) * WEIGHT_BITS);
    if (scaled === 0n) break;
    weights.push(scaled);
  }
  return weights;
}

function addFrom({ top, exact }: SumTable, random: Randomness, sums: Int32Array): void {
  const words = new Uint32Array(sums.length + Math.ceil(sums.length / 32));
  random(new Uint8Array(words.buffer));
  for (let i = 0; i < sums.length; i++) {
    const word = words[i] as number;
    let [low, high] = [0, top.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((top[middle] as number) <= word) low = middle + 1;
      else high = middle;
    }
    if (low > 0 && top[low - 1] === word) low = decide(exact, low, word, random);
    const sign = ((words[sums.length + (i >>> 5)] as number) >>> (i & 31)) & 1;
    sums[i] = (sums[i] as number) + (low ^ -sign) + sign;
  }
  words.fill(0);
}

/** The number of entries up to u, of which the first 32 bits are known, and that it is at most `most`. */
function decide(exact: readonly bigint[], most: number, word: number, random: Randomness): number {
  const rest = new Uint8Array(REST_BYTES);
  random(rest);
  const u = rest.reduce((bits, byte) => (bits << 8n) | BigInt(byte), BigInt(word));
  let number = most;
  while (number > 0 && (exact[number - 1] as bigint) > u) number--;
  return number;
}
