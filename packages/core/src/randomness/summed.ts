import { exactMagnitude } from "./exact-sums.ts";
import type { Randomness } from "./randomness.ts";
import { type Summed, sumBounds } from "./sum-bounds.ts";

/** The most samples of a sum. Callers add larger sums in parts. */
export const MOST_SUMMED = 4096;

/** A window needs two numbers of samples: those that are missing, and those of a decoy. */
const MOST_TABLES = 8;
const tables = new Map<string, Int32Array>();

/**
 * Adds to every entry of `sums` the sum of `count` independent samples, at most `MOST_SUMMED`: uniform elements of
 * {−1, 0, 1}, or centred binomial samples as `addCentredBinomial` draws them. The cost hardly depends on `count`.
 *
 * Both sums are symmetric, so a fair bit decides the sign, and the magnitude |S| is drawn by inversion: for u uniform
 * below 2¹⁹² it is the number of j with ⌊2¹⁹²·Pr[|S| ≤ j]⌋ ≤ u. S and −S are equally likely whatever is rounded.
 *
 * **Distance from the true distribution.** u is compared exactly (`exact-sums.ts`), so every Pr[|S| ≤ j] is off by at
 * most 2⁻¹⁹², and by far less for the rounding of binomial weights. A sum has fewer than 2¹³ magnitudes that are as likely
 * as 2⁻¹⁹², so it is within 2⁻¹⁷⁷ of the true distribution in total variation. A report has fewer than 2²⁹ sums, whatever
 * its task: counters have at most 16 ciphertexts of three vectors of 4,096 sums in 100 parts; each of at most 10,000
 * histograms and means has one ciphertext and a decoy, in two parts, since rotations have no room for more writes. So a
 * report is within 2²⁹·2⁻¹⁷⁷ = 2⁻¹⁴⁸.
 *
 * **Time.** A search without branches compares the first 31 bits of u with bounds in double precision (`sum-bounds.ts`).
 * They decide except with probability (magnitudes)·2⁻³⁰; then 160 more bits are drawn and compared exactly, which takes a
 * millisecond and happens in one of some hundred reports. That it happens does not show for which sum. The search shows
 * in memory accesses, as with any table. The table depends on public numbers only.
 */
export function addSummed(kind: Summed, random: Randomness, count: number, sums: Int32Array): void {
  const name = kind + count;
  if (tables.size > MOST_TABLES) tables.clear();
  const bounds = tables.get(name) ?? sumBounds(kind, count);
  tables.set(name, bounds);
  const words = new Uint32Array(sums.length + Math.ceil(sums.length / 32));
  random(new Uint8Array(words.buffer));
  for (let i = 0; i < sums.length; i++) {
    const first = (words[i] as number) >>> 1;
    let magnitude = 0;
    for (let step = bounds.length >> 1; step > 0; step >>= 1) {
      // The difference is negative, at least −2³¹, if the bound is at most the word.
      magnitude += step & (((bounds[magnitude + step] as number) - first - 1) >> 31);
    }
    if ((bounds[magnitude] as number) >= first - 1) {
      const rest = new Uint8Array(20);
      random(rest);
      magnitude = exactMagnitude(kind, count, words[i] as number, rest);
      rest.fill(0);
    }
    const sign = ((words[sums.length + (i >>> 5)] as number) >>> (i & 31)) & 1;
    sums[i] = (sums[i] as number) + (magnitude ^ -sign) + sign;
  }
  words.fill(0);
}
