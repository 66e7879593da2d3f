export { VERSION_DISTINGUISHERS as DISTINGUISHERS } from "../../lab/src/intrusion/version-distinguishers.ts";

/**
 * Wilcoxon, Mann and Whitney: with which probability the sum of ranks would be as far from its mean as it is, or
 * farther, if which numbers are in `a` were chosen by lot. Exact, ties included: the distribution is that of the sum
 * over all choices of these very ranks. Never less than 2 / (a + b over a).
 */
export function rankSumProbability(a: readonly number[], b: readonly number[]): number {
  const all = [...a, ...b];
  const doubled = all.map((x) => 2 * all.filter((y) => y < x).length + all.filter((y) => y === x).length);
  const ways = waysBySum(doubled, a.length);
  const mean = (a.length * doubled.reduce((sum, rank) => sum + rank, 0)) / all.length;
  const found = Math.abs(doubled.slice(0, a.length).reduce((sum, rank) => sum + rank, 0) - mean);
  const total = ways.reduce((sum, n) => sum + n, 0);
  const far = ways.reduce((sum, n, rankSum) => sum + (Math.abs(rankSum - mean) >= found - 1e-9 ? n : 0), 0);
  return far / total;
}

/** How many choices of `k` of the numbers have which sum. */
function waysBySum(numbers: readonly number[], chosen: number): Float64Array {
  const most = numbers.reduce((sum, x) => sum + x, 0);
  const ways = Array.from({ length: chosen + 1 }, () => new Float64Array(most + 1));
  (ways[0] as Float64Array)[0] = 1;
  let reached = 0;
  for (const x of numbers) {
    reached += x;
    for (let size = chosen; size > 0; size--) {
      const [to, from] = [ways[size] as Float64Array, ways[size - 1] as Float64Array];
      for (let sum = reached; sum >= x; sum--) to[sum] = (to[sum] as number) + (from[sum - x] as number);
    }
  }
  return ways[chosen] as Float64Array;
}
