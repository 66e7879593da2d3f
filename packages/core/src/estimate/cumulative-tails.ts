import type { Coin } from "../privacy/accounting/binomial.ts";
import { type Distribution, sumOfCoins } from "../privacy/accounting/coin-sum.ts";
import { WIDE } from "../privacy/accounting/gaussian-sum.ts";
import { millsRatio } from "../privacy/accounting/normal-tail.ts";
import { totalWeight } from "../privacy/discrete-gaussian.ts";
import type { KaryResponse } from "../privacy/kary-response.ts";
import type { RandomizedResponse } from "../privacy/randomized-response.ts";
import type { UnaryEncoding } from "../privacy/unary-encoding.ts";
import type { CumulativeTails } from "./quantile.ts";

/**
 * How a device tells of some buckets together: it tosses `coins` coins, all of them `outside` if its own bucket is not
 * among them, else all but one, which is `inside`.
 */
interface CumulativeCoins {
  readonly inside: Coin;
  readonly outside: Coin;
  readonly coins: number;
}

/** How devices randomize their buckets; `bucket` is the last one of those that are looked at together. */
export type CoinsOf = (bucket: number) => CumulativeCoins;

/** Of K-ary response. */
export function karyCoins({ keep, buckets }: KaryResponse): CoinsOf {
  const decoy = (1 - keep) / buckets;
  return (bucket) => {
    const [among, beyond] = [(bucket + 1) * decoy, (buckets - bucket - 1) * decoy];
    return {
      inside: { heads: keep + among, tails: beyond },
      outside: { heads: among, tails: keep + beyond },
      coins: 1,
    };
  };
}

/** Of unary encoding. */
export function unaryCoins({ noise }: UnaryEncoding): CoinsOf {
  return (bucket) => ({
    inside: { heads: 0.5, tails: 0.5 },
    outside: { heads: noise, tails: 1 - noise },
    coins: bucket + 1,
  });
}

/** Of randomized response on every bucket. */
export function responseCoins({ flip }: RandomizedResponse): CoinsOf {
  return (bucket) => ({
    inside: { heads: 1 - flip, tails: flip },
    outside: { heads: flip, tails: 1 - flip },
    coins: bucket + 1,
  });
}

/**
 * For answers that devices randomized. Let C be the sum of the answers about the buckets 0 to b, and F of the n devices
 * be in them.
 *
 * - K-ary response tells one bucket. It is one of these with probability keep + (b+1)·(1−keep)/K from inside, and
 *   (b+1)·(1−keep)/K from outside. So C is Bin(F, inside) + Bin(n−F, outside).
 * - Unary encoding and randomized response per bucket tell each bucket on its own: the true one as 1 with probability
 *   `ifOne`, any other with `ifZero`. So C is Bin(F, ifOne) + Bin((b+1)·n − F, ifZero).
 *
 * In both cases C has exactly the distribution of `sumOfCoins`, for any n, and depends on nothing but F. It is the
 * marginal of the joint distribution of all buckets: its variance is the sum of all variances and covariances of the
 * buckets 0 to b. It rises with F, as `inside` is more likely than `outside`.
 */
export function coinTails(sums: readonly number[], devices: number, coinsOf: CoinsOf): CumulativeTails {
  const told = runningSums(sums);
  const distribution = (bucket: number, within: number): Distribution => {
    const { inside, outside, coins } = coinsOf(bucket);
    return sumOfCoins(within, inside, coins * devices - within, outside);
  };
  return {
    atMost: (bucket, within) => {
      const { first, probabilities } = distribution(bucket, within);
      return LEFT_OUT + sumOf(probabilities.subarray(0, Math.max(0, (told[bucket] as number) - first + 1)));
    },
    atLeast: (bucket, within) => {
      const { first, probabilities } = distribution(bucket, within);
      return LEFT_OUT + sumOf(probabilities.subarray(Math.max(0, (told[bucket] as number) - first)));
    },
  };
}

/** More than the sums leave out on either side, and more than they are rounded by. */
const LEFT_OUT = 1e-9;

/**
 * For true answers to which servers add `draws` discrete Gaussians per bucket: C = F + the sum Z of (b+1)·`draws` of
 * them, which is symmetric.
 */
export function gaussianTails(sums: readonly number[], sigma2: number, draws: number): CumulativeTails {
  const told = runningSums(sums);
  const tailOf = sigma2 >= WIDE ? wideTail(sigma2, draws) : narrowTail(sigma2, draws);
  return {
    atMost: (bucket, within) => tailOf(bucket, within - (told[bucket] as number)),
    atLeast: (bucket, within) => tailOf(bucket, (told[bucket] as number) - within),
  };
}

/** Pr[Z ≥ x] of the noise in the buckets 0 to `bucket`, or more. */
type NoiseTail = (bucket: number, x: number) => number;

/**
 * Wide ones add up to a discrete Gaussian with the sum s² of their parameters [KLS21], whose weights are the values of
 * a curve that is convex beyond s. There the value at k is at most the area from k − ½ to k + ½, so that
 * Pr[Z ≥ x] ≤ Pr[N(0, s²) ≥ x − ½]. Nearer than that nothing is rejected.
 */
function wideTail(sigma2: number, draws: number): NoiseTail {
  return (bucket, x) => {
    const t = (x - 0.5) / Math.sqrt((bucket + 1) * draws * sigma2);
    return t < 1 ? 1 : (Math.exp((-t * t) / 2) / Math.sqrt(2 * Math.PI)) * millsRatio(t) * (1 + 1e-9);
  };
}

/** Narrow ones are convolved, bucket after bucket. Entry i of a convolution is the probability of i − its middle. */
function narrowTail(sigma2: number, draws: number): NoiseTail {
  const reach = Math.ceil(Math.sqrt(100 * sigma2)) + 1;
  const total = totalWeight(sigma2);
  const one = Float64Array.from(
    { length: 2 * reach + 1 },
    (_, i) => Math.exp(-((i - reach) ** 2) / (2 * sigma2)) / total,
  );
  const known: Float64Array[] = [];
  const upTo = (bucket: number): Float64Array => {
    for (let b = known.length; b <= bucket; b++) {
      let sum: Float64Array = known[b - 1] ?? Float64Array.of(1);
      for (let draw = 0; draw < draws; draw++) sum = convolved(sum, one);
      known.push(trimmed(sum));
    }
    return known[bucket] as Float64Array;
  };
  return (bucket, x) => {
    const noise = upTo(bucket);
    const middle = (noise.length - 1) / 2;
    return LEFT_OUT + sumOf(noise.subarray(Math.max(0, Math.min(noise.length, x + middle))));
  };
}

function convolved(a: Float64Array, b: Float64Array): Float64Array {
  const sum = new Float64Array(a.length + b.length - 1);
  for (let i = 0; i < a.length; i++) {
    const weight = a[i] as number;
    for (let j = 0; j < b.length; j++) sum[i + j] = (sum[i + j] as number) + weight * (b[j] as number);
  }
  return sum;
}

/** Without what is so improbable at both ends that it does not count. */
function trimmed(symmetric: Float64Array): Float64Array {
  let start = 0;
  while ((symmetric[start] as number) < 1e-18) start++;
  return symmetric.subarray(start, symmetric.length - start);
}

function runningSums(values: readonly number[]): number[] {
  let sum = 0;
  return values.map((value) => {
    sum += value;
    return sum;
  });
}

function sumOf(values: Float64Array): number {
  return values.reduce((sum, value) => sum + value, 0);
}
