import { lowerPart } from "@lethe/core/privacy";

/** What rounding may change in the comparison of two shares. */
const TOLERANCE = 1e-9;

/** The advantage of the best threshold between two samples, chosen with these samples in view. */
export function largestAdvantage(a: readonly number[], b: readonly number[]): number {
  // NaN has no place in any order.
  if ([...a, ...b].some(Number.isNaN)) throw new RangeError("NaN cannot be compared with anything");
  let most = 0;
  let [below, belowB] = [0, 0];
  const all = [...a.map((value) => ({ value, inA: true })), ...b.map((value) => ({ value, inA: false }))];
  all.sort((x, y) => x.value - y.value);
  for (const [i, { value, inA }] of all.entries()) {
    if (inA) below++;
    else belowB++;
    if (all[i + 1]?.value === value) continue;
    most = Math.max(most, Math.abs(below / a.length - belowB / b.length));
  }
  return most;
}

/**
 * Kolmogorov and Smirnov's test: the probability that the best threshold has this advantage or a larger one, if a
 * lottery decided which of the numbers are in `a`. Exact, including ties, because it goes through all choices for these
 * very numbers.
 */
export function chanceOfAdvantage(a: readonly number[], b: readonly number[]): number {
  const sorted = [...a, ...b].sort((x, y) => x - y);
  const isBoundary = sorted.map((value, i) => sorted[i + 1] !== value);
  return exceedance(a.length, b.length, largestAdvantage(a, b), (taken) => isBoundary[taken - 1] === true);
}

/**
 * The probability that a random path from (0, 0) to (n, m) passes a boundary where i/n and j/m are at least `distance`
 * apart. All paths are equally likely; `reached[j]` is the probability for paths to (i, j).
 */
function exceedance(n: number, m: number, distance: number, isBoundary: (taken: number) => boolean): number {
  const reached = new Float64Array(m + 1);
  for (let i = 0; i <= n; i++) {
    for (let j = 0; j <= m; j++) {
      const taken = i + j;
      if (taken > 0 && isBoundary(taken) && Math.abs(i / n - j / m) >= distance - TOLERANCE) reached[j] = 1;
      else if (taken === 0) reached[j] = 0;
      else {
        const fromA = i > 0 ? (i / taken) * (reached[j] as number) : 0;
        reached[j] = fromA + (j > 0 ? (j / taken) * (reached[j - 1] as number) : 0);
      }
    }
  }
  return reached[m] as number;
}

/**
 * The smallest advantage, up to 0.001, that is significant at this level whatever the numbers are; undefined if none
 * is.
 */
function convincingAdvantage(n: number, m: number, level: number): number | undefined {
  if (exceedance(n, m, 1, () => true) > level) return undefined;
  let [low, high] = [0, 1];
  while (high - low > 0.001) {
    const middle = (low + high) / 2;
    if (exceedance(n, m, middle, () => true) <= level) high = middle;
    else low = middle;
  }
  return high;
}

/**
 * The smallest true advantage of a threshold, not that in the sample, which is found at this level with this
 * probability. Chance depends on where the threshold is: the least favourable of a few places counts.
 */
export function detectableAdvantage(n: number, m: number, level: number, power: number): number | undefined {
  const convincing = convincingAdvantage(n, m, level);
  if (convincing === undefined) return undefined;
  const places = [0, 0.25, 0.5, 0.75, 1];
  const isFound = (advantage: number): boolean =>
    places.every((place) => chanceToConvince(n, m, (1 - advantage) * place, advantage, convincing) >= power);
  let [low, high] = [convincing, 1];
  while (high - low > 0.001) {
    const middle = (low + high) / 2;
    if (isFound(middle)) high = middle;
    else low = middle;
  }
  return high;
}

/**
 * Pr[X/n − Y/m ≥ convincing], where X of n pass with probability share + advantage, and Y of m with probability share.
 */
function chanceToConvince(n: number, m: number, share: number, advantage: number, convincing: number): number {
  const passing = cumulative(n, share + advantage);
  const failing = cumulative(m, share);
  let chance = 0;
  for (let x = 0; x <= n; x++) {
    const most = Math.floor(m * (x / n - convincing) + TOLERANCE);
    if (most < 0) continue;
    chance += ((passing[x] as number) - (passing[x - 1] ?? 0)) * (failing[Math.min(most, m)] as number);
  }
  return chance;
}

function cumulative(n: number, heads: number): Float64Array {
  const share = Math.min(1, Math.max(0, heads));
  return Float64Array.from({ length: n + 1 }, (_, most) => {
    if (share === 0 || share === 1) return Number(share === 0 || most === n);
    return lowerPart(n, { heads: share, tails: 1 - share }, most).probability;
  });
}

/** The smallest number of devices on each side with which anything at all is significant at this level. */
export function fewestFor(level: number): number {
  let each = 1;
  while (exceedance(each, each, 1, () => true) > level) each++;
  return each;
}
