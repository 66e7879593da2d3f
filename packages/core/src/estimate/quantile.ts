/** A quantile of a histogram: in which bucket it is, and from which to which it may be. Buckets are counted from 0. */
export interface QuantileEstimate {
  readonly q: number;
  readonly bucket: number;
  readonly low: number;
  readonly high: number;
}

/**
 * How likely it is that the buckets 0 to `bucket` tell together what they told, or less, or more, if `inside` of the
 * devices are truly in them. Neither is ever too small. `bucket` is below the last.
 */
export interface CumulativeTails {
  atMost(bucket: number, inside: number): number;
  atLeast(bucket: number, inside: number): number;
}

/** A histogram as the devices answered. */
export interface ToldHistogram {
  readonly devices: number;
  /** The nearest histogram that could be true, one entry per bucket. */
  readonly consistent: readonly number[];
  readonly tails: CumulativeTails;
}

/** One minus the probability with which all intervals of a histogram cover. */
const ERROR = 0.05;

/**
 * Quantiles of the n devices that reported. With F(b) devices in the buckets 0 to b, the q-quantile is in the first
 * bucket with F(b) ≥ q·n, that is with F(b) ≥ r for the rank r = ⌈q·n⌉. The estimate is that bucket of the consistent
 * histogram, whose F never falls, moved into the interval if it is outside.
 *
 * **The interval** [low, high] inverts tests on F. `low` is the first bucket b for which "F(b) ≥ r" is not rejected at
 * level α. `high` is the last bucket b for which "F(b−1) < r" is not rejected, and at least `low`. Let b* be the true
 * bucket. If low > b*, then "F(b*) ≥ r" was rejected, although it is true. If high < b*, then "F(b*−1) < r" was
 * rejected, although it is true. Each happens with probability at most α, however many buckets there are, because only
 * these two tests count. What the buckets 0 to b told together rises with F(b) (`cumulative-tails.ts`), so the worst
 * case of "F(b) ≥ r" is F(b) = r, and that of "F(b) < r" is r−1.
 *
 * **Several at once.** Of quantiles with the same b*, all tests of "F(b*) ≥ r" reject small sums of the same buckets,
 * so that any of them is wrong only if the one that rejects most is. So m quantiles of K buckets have at most
 * min(m, K−1) ways to be wrong on either side, and with α = 5% / (2·min(m, K−1)) all intervals cover at once with a
 * probability of at least 95%.
 *
 * The tests are exact for any number of devices; nothing is approximated by a normal distribution but wide noise of
 * servers, from above. The devices that reported are the population: the intervals say nothing of others.
 */
export function estimateQuantiles(told: ToldHistogram, asked: readonly number[]): QuantileEstimate[] {
  const { devices, consistent, tails } = told;
  const last = consistent.length - 1;
  const level = ERROR / (2 * Math.max(1, Math.min(asked.length, last)));
  return asked.map((q) => {
    const rank = rankOf(q, devices);
    let low = 0;
    while (low < last && tails.atMost(low, rank) <= level) low++;
    let high = last;
    while (high > low && tails.atLeast(high - 1, rank - 1) <= level) high--;
    return { q, bucket: Math.min(Math.max(firstWith(consistent, rank), low), high), low, high };
  });
}

/** ⌈q·n⌉, and at least 1; a hair less than the product, so that 0.07·100 is 7. */
export function rankOf(q: number, devices: number): number {
  return Math.max(1, Math.ceil(q * devices * (1 - 1e-12)));
}

/** The first bucket up to which there are `rank` devices; a hair fewer will do, as consistent counts are rounded. */
function firstWith(counts: readonly number[], rank: number): number {
  let sum = 0;
  for (const [bucket, count] of counts.entries()) {
    sum += count;
    if (sum >= rank - 1e-6) return bucket;
  }
  return counts.length - 1;
}
