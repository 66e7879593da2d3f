import { type Coin, logBinomial, lowerPart, reachOf } from "./binomial.ts";
import { sumOfCoins } from "./coin-sum.ts";
import { type Effort, worstCase } from "./worst-case.ts";

/** How honest devices answer one question: heads is a 1, `one` for those who hold a 1. */
interface Coins {
  readonly one: Coin;
  readonly zero: Coin;
}

/**
 * δ(ε) between the sums of honest devices' answers with a 0 and with a 1 from one more report, which has no noise: an
 * intruder made it from a captured state. With F the distribution of the honest sum, Σ_y [F(y) − e^ε·F(y−1)]₊; F is
 * log-concave, so the positive terms come first. It is the worst over what the honest devices hold, and over both
 * directions, from above: the devices of whom it is open what they hold are left out, which can only raise δ.
 */
export function hijackedResponseDelta(honest: number, coins: Coins, epsilon: number, effort: Effort): number {
  const { one, zero } = coins;
  const swapped = { one: swap(one), zero: swap(zero) };
  const variance = honest * Math.min(one.heads * one.tails, zero.heads * zero.tails);
  const bound = (ones: number, zeros: number): number =>
    Math.max(shiftedDelta(ones, zeros, coins, epsilon), shiftedDelta(ones, zeros, swapped, epsilon));
  return worstCase(
    { low: [0], high: [honest] },
    {
      ...effort,
      bound: ({ low: [low], high: [high] }) => bound(low as number, honest - (high as number)),
      mostEvaluations: 24 + (effort.patience * USUAL_WORK) / Math.sqrt(1 + variance),
    },
  ).upper;
}

/** The usual work: evaluations times σ, to which their cost is proportional. */
const USUAL_WORK = 20_000;

function swap({ heads, tails }: Coin): Coin {
  return { heads: tails, tails: heads };
}

function shiftedDelta(ones: number, zeros: number, { one, zero }: Coins, epsilon: number): number {
  const e = Math.exp(epsilon);
  let delta = 0;
  let last = 0;
  for (const probability of sumOfCoins(ones, one, zeros, zero).probabilities) {
    if (probability === 0 && last === 0) continue;
    const here = probability - e * last;
    if (here <= 0) return delta;
    delta += here;
    last = probability;
  }
  return delta;
}

const FAIR: Coin = { heads: 0.5, tails: 0.5 };

/**
 * δ(ε) between the counts of three or more buckets with one more report in bucket i and in bucket j, exactly. Each of
 * the honest devices answers i and answers j with probability at least κ = 1/(e^ε₀+K−1), whatever it holds. Give away
 * all other answers, and who gave them: what is left are s answers, Bin(h, 2κ), each i or j with probability ½. With X
 * = Bin(s, ½), it is the δ between X and X + 1. If all honest devices hold a third bucket, nothing was given away.
 *
 * The fewer s, the larger δ, so a run of many s counts as its least.
 */
export function hijackedKaryDelta(honest: number, buckets: number, localEpsilon: number, epsilon: number): number {
  const e0 = Math.exp(localEpsilon);
  const pair: Coin = { heads: 2 / (e0 + buckets - 1), tails: (e0 + buckets - 3) / (e0 + buckets - 1) };
  const mean = honest * pair.heads;
  const reach = reachOf(mean * pair.tails);
  const first = Math.max(0, Math.floor(mean - reach));
  const last = Math.min(honest, Math.ceil(mean + reach));
  const run = Math.max(1, Math.floor(mean * LONGEST_RUN));
  let here = Math.exp(logBinomial(honest, pair, first));
  let delta = 0;
  for (let least = first; least <= last; least += run) {
    let probability = 0;
    for (let s = least; s < Math.min(least + run, last + 1); s++) {
      probability += here;
      here *= ((honest - s) / (s + 1)) * (pair.heads / pair.tails);
    }
    delta += probability * shiftedFairDelta(least, epsilon);
  }
  return delta;
}

/** As a share of the mean of s: δ changes by a few thousandths. */
const LONGEST_RUN = 2e-4;

/** Between X and X + 1, X = Bin(s, ½): x counts while (s − x + 1)/x > e^ε. */
function shiftedFairDelta(s: number, epsilon: number): number {
  const e = Math.exp(epsilon);
  const most = Math.ceil((s + 1) / (1 + e)) - 1;
  return lowerPart(s, FAIR, most).probability - e * lowerPart(s, FAIR, most - 1).probability;
}
