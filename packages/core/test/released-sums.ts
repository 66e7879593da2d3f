/**
 * What a release is distributed as, computed directly, without any code of the accounting that it is compared with:
 * arrays of probabilities of 0, 1, 2, …, in doubles.
 */
export type Distribution = Float64Array;

/** Of the number of heads. */
export function binomial(n: number, heads: number): Distribution {
  const logs = new Float64Array(n + 1);
  for (let i = 1; i <= n; i++) logs[i] = (logs[i - 1] as number) + Math.log(i);
  const log = (i: number): number => logs[i] as number;
  return Float64Array.from({ length: n + 1 }, (_, k) =>
    Math.exp(log(n) - log(k) - log(n - k) + k * Math.log(heads) + (n - k) * Math.log1p(-heads)),
  );
}

/** Of the sum of two independent numbers. What is less likely than 10⁻²⁵ at either end counts as impossible. */
export function sumOf(left: Distribution, right: Distribution): { readonly first: number; readonly sum: Distribution } {
  const sum = new Float64Array(left.length + right.length - 1);
  for (const [i, p] of left.entries()) {
    if (p > 0) for (let j = 0; j < right.length; j++) sum[i + j] = (sum[i + j] as number) + p * (right[j] as number);
  }
  const first = sum.findIndex((p) => p > NEGLIGIBLE);
  return { first, sum: sum.subarray(first, sum.findLastIndex((p) => p > NEGLIGIBLE) + 1) };
}

const NEGLIGIBLE = 1e-25;

/**
 * Of the sum of many independent copies, up to where it begins, which matters to nobody who compares it with itself.
 */
export function sumOfMany(part: Distribution, times: number): Distribution {
  if (times === 1) return part;
  const half = sumOfMany(part, Math.floor(times / 2));
  const { sum } = sumOf(half, half);
  return times % 2 === 0 ? sum : sumOf(sum, part).sum;
}

/** Of a draw with weights e^{−x²/2σ²}, clamped to ±`clamp` if given. */
export function gaussian(sigma2: number, clamp?: readonly [low: number, high: number]): Distribution {
  const reach = Math.ceil(13 * Math.sqrt(sigma2));
  const [low, high] = clamp ?? [-reach, reach];
  const probabilities = new Float64Array(high - low + 1);
  let total = 0;
  for (let x = -reach; x <= reach; x++) {
    const weight = Math.exp(-(x * x) / (2 * sigma2));
    const at = Math.min(Math.max(x, low), high) - low;
    probabilities[at] = (probabilities[at] as number) + weight;
    total += weight;
  }
  return probabilities.map((weight) => weight / total);
}

/** The same number, and `by` more. */
export function shifted(distribution: Distribution, by: number): Distribution {
  const moved = new Float64Array(distribution.length + by);
  moved.set(distribution, by);
  return moved;
}

/** One or the other, the second with this probability. */
export function mixed(left: Distribution, right: Distribution, share: number): Distribution {
  return Float64Array.from(
    { length: Math.max(left.length, right.length) },
    (_, i) => (1 - share) * (left[i] ?? 0) + share * (right[i] ?? 0),
  );
}

/** Of a pair of independent numbers, in `columns` of which the second has at most. */
export function pairOf(left: Distribution, right: Distribution, columns: number): Distribution {
  const pairs = new Float64Array(left.length * columns);
  for (const [i, p] of left.entries()) for (const [j, q] of right.entries()) pairs[i * columns + j] = p * q;
  return pairs;
}

/** Of how many of n devices are in each of two buckets, if each is in either with probability κ; `columns` as above. */
export function twoBuckets(n: number, kappa: number, columns: number): Distribution {
  const pairs = new Float64Array((n + 2) * columns);
  for (const [i, p] of binomial(n, kappa).entries()) {
    if (p < NEGLIGIBLE) continue;
    const rest = binomial(n - i, kappa / (1 - kappa));
    for (const [j, q] of rest.entries()) pairs[i * columns + j] = p * q;
  }
  return pairs;
}

/** δ(ε): how much more likely the worst set of outcomes is than e^ε times as likely; in both directions. */
export function hockeyStick(p: Distribution, q: Distribution, epsilon: number): number {
  const factor = Math.exp(epsilon);
  let [there, back] = [0, 0];
  for (let i = 0; i < Math.max(p.length, q.length); i++) {
    const [a, b] = [p[i] ?? 0, q[i] ?? 0];
    there += Math.max(0, a - factor * b);
    back += Math.max(0, b - factor * a);
  }
  return Math.max(there, back);
}

/** The least ε at which nobody tells p from q, but for δ; from below by less than 10⁻⁷. */
export function epsilonReached(p: Distribution, q: Distribution, delta: number): number {
  let [low, high] = [0, 64];
  if (hockeyStick(p, q, high) > delta) return Number.POSITIVE_INFINITY;
  while (high - low > 1e-7) {
    const middle = (low + high) / 2;
    if (hockeyStick(p, q, middle) > delta) low = middle;
    else high = middle;
  }
  return low;
}
