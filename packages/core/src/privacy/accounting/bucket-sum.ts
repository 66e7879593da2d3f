import type { Coin } from "./binomial.ts";
import { sumOfCoins } from "./coin-sum.ts";
import { responseCoins, wrongAnswers } from "./response-sum.ts";
import { type Effort, type Point, type WorstCase, worstCase } from "./worst-case.ts";

/** How a device tells each bucket: heads is a 1, `one` for its own bucket, `zero` for the others. */
export interface BucketCoins {
  readonly one: Coin;
  readonly zero: Coin;
}

/** Optimised unary encoding at ε₀: a fair coin for the own bucket, 1/(e^ε₀+1) for others. */
export function unaryCoins(localEpsilon: number): BucketCoins {
  return { one: { heads: 0.5, tails: 0.5 }, zero: responseCoins(localEpsilon).zero };
}

/** The paper's: randomized response on every bucket, at half of ε₀ since neighbours differ in two. */
export function perBucketCoins(localEpsilon: number): BucketCoins {
  return responseCoins(localEpsilon / 2);
}

/** Probabilities of one bucket's sum if the person is in it or not, from the likeliest "in" to the likeliest "out". */
interface Pair {
  readonly inside: Float64Array;
  readonly outside: Float64Array;
}

function pairAmong(inBucket: number, elsewhere: number, { one, zero }: BucketCoins): Pair {
  const { probabilities } = sumOfCoins(inBucket, one, elsewhere, zero);
  const length = probabilities.length + 1;
  const inside = new Float64Array(length);
  const outside = new Float64Array(length);
  for (let y = 0; y < length; y++) {
    const same = probabilities[y] ?? 0;
    const less = probabilities[y - 1] ?? 0;
    inside[length - 1 - y] = one.tails * same + one.heads * less;
    outside[length - 1 - y] = zero.tails * same + zero.heads * less;
  }
  return { inside, outside };
}

/** Of coins, products and sums of doubles. */
const ROUNDING = 2 ** -47;

/**
 * δ(ε) for a person who moves from one bucket to another, given the distributions of both sums. The likelihood ratio of
 * each sum is monotone, so for each value of the first those of the second that count form a run from one end, which
 * only grows. Where ε is close to ε₀ differences cancel, so what rounding may have taken away is added.
 */
function deltaOfMove(from: Pair, to: Pair, epsilon: number): number {
  const e = Math.exp(epsilon);
  let delta = 0;
  let size = 0;
  let before = 0;
  let after = 0;
  let run = 0;
  // The first sum from "likeliest out" to "likeliest in": of the second more and more counts, from its likeliest "out"
  // on.
  for (let i = from.inside.length - 1; i >= 0; i--) {
    const fromInside = from.inside[i] as number;
    const fromOutside = from.outside[i] as number;
    if (fromInside === 0 && fromOutside === 0) continue;
    for (; run < to.outside.length; run++) {
      const j = to.outside.length - 1 - run;
      const toOutside = to.outside[j] as number;
      const toInside = to.inside[j] as number;
      // What cannot happen at all neither counts nor ends the run.
      if (fromInside * toOutside <= e * fromOutside * toInside && (toOutside > 0 || toInside > 0)) break;
      before += toOutside;
      after += toInside;
    }
    const gain = fromInside * before;
    delta += Math.max(0, gain - e * fromOutside * after);
    size += gain;
  }
  return delta + ROUNDING * size;
}

/** The usual work: evaluations times σ, to which their cost is proportional. Takes tens of milliseconds. */
const USUAL_WORK = 60_000;

/**
 * δ(ε) of releasing the sums of all buckets, each bucket of each of n devices told by an independent coin. Two buckets
 * change when a person moves, the sums of the others have the same distribution before and after; so δ is that of the
 * product of two sums, the worst over how many of the others are in these two buckets: a point. With two buckets only,
 * an upper bound.
 */
export function bucketSumDelta(devices: number, coins: BucketCoins, epsilon: number, effort: Effort): WorstCase {
  const others = devices - 1;
  const sumsOf = rememberSums(others, coins);
  const { one, zero } = coins;
  const variance = devices * Math.min(one.heads * one.tails, zero.heads * zero.tails);
  return worstCase(
    { low: [0, 0], high: [others, others] },
    {
      ...effort,
      bound: ({ low: [from, to], high: [fromHigh, toHigh] }, goal) => {
        if ((from as number) + (to as number) > others) return 0;
        return boundOfMove(
          sumsOf(from as number, fromHigh as number),
          sumsOf(to as number, toHigh as number),
          epsilon,
          goal,
        );
      },
      mostEvaluations: 60 + (effort.patience * USUAL_WORK) / Math.sqrt(1 + variance),
    },
  );
}

/** What is known of a bucket's sum if how many of the others are in it is only known up to some. */
interface OpenSum {
  /** The sum without those. */
  readonly without: Pair;
  /** The same, with at most one wrong answer among them: all of them in the bucket, or none. */
  readonly ends: () => readonly Pair[];
  /** The probability of more than one wrong answer. */
  readonly beyond: number;
}

/**
 * At least δ for all numbers of people in the two buckets. Leaving out those who are open can only raise δ: their
 * answers are noise added afterwards. Sharper, as for one sum (`response-sum.ts`): for a given set of outcomes and at
 * most one wrong answer in each bucket, δ is linear in the number of people who are in it, so at most that of an end;
 * the rest counts as if they were left out.
 */
function boundOfMove(from: OpenSum, to: OpenSum, epsilon: number, goal: number): number {
  const delta = deltaOfMove(from.without, to.without, epsilon);
  const beyond = 1 - (1 - from.beyond) * (1 - to.beyond);
  if (delta <= goal || beyond === 0 || beyond > LARGEST_BEYOND) return delta;
  let most = 0;
  for (const fromEnd of from.ends()) {
    for (const toEnd of to.ends()) most = Math.max(most, deltaOfMove(fromEnd, toEnd, epsilon));
  }
  return Math.min(delta, most + beyond * delta);
}

/** More would gain nothing. */
const LARGEST_BEYOND = 0.2;

/** About 100 MB. */
const MOST_REMEMBERED = 2_000_000;

function rememberSums(others: number, coins: BucketCoins): (low: number, high: number) => OpenSum {
  const known = new Map<string, OpenSum>();
  let numbers = 0;
  return (low, high) => {
    const key = `${low} ${high}`;
    const remembered = known.get(key);
    if (remembered) return remembered;
    const sum = openSum(low, high, others, coins);
    numbers += sum.without.inside.length;
    if (numbers > MOST_REMEMBERED) {
      known.clear();
      numbers = sum.without.inside.length;
    }
    known.set(key, sum);
    return sum;
  };
}

function openSum(low: number, high: number, others: number, coins: BucketCoins): OpenSum {
  const without = pairAmong(low, others - high, coins);
  if (low === high) return { without, ends: () => [without], beyond: 0 };
  // Only if a wrong answer is equally likely inside and outside is there just one kind of it.
  if (coins.one.tails !== coins.zero.heads) return { without, ends: () => [], beyond: 1 };
  const { none, single } = wrongAnswers(high - low, coins.zero);
  let ends: readonly Pair[] | undefined;
  return {
    without,
    ends: () => {
      ends ??= [shiftSome(without, none, single, "up"), shiftSome(without, none, single, "down")];
      return ends;
    },
    beyond: 1 - none - single,
  };
}

/** The part of the distribution with no wrong answer, and that with one, which moves the sum one up or down. */
function shiftSome({ inside, outside }: Pair, none: number, single: number, moved: "up" | "down"): Pair {
  const [stays, goes] = moved === "up" ? [1, 0] : [0, 1];
  const shift = (values: Float64Array): Float64Array => {
    const shifted = new Float64Array(values.length + 1);
    for (let i = 0; i < values.length; i++) {
      shifted[i + stays] = (shifted[i + stays] as number) + none * (values[i] as number);
      shifted[i + goes] = (shifted[i + goes] as number) + single * (values[i] as number);
    }
    return shifted;
  };
  return { inside: shift(inside), outside: shift(outside) };
}

/** δ(ε) for one dataset, 0 if there is none such. */
export function bucketSumDeltaAt([from, to]: Point, devices: number, coins: BucketCoins, epsilon: number): number {
  if ((from as number) + (to as number) > devices - 1) return 0;
  const pair = (inBucket: number): Pair => pairAmong(inBucket, devices - 1 - inBucket, coins);
  return deltaOfMove(pair(from as number), pair(to as number), epsilon);
}
