import type { Coin } from "./binomial.ts";
import { sumOfCoins } from "./coin-sum.ts";
import { type Effort, type Point, type WorstCase, worstCase } from "./worst-case.ts";

/** What somebody who holds a 1, or a 0, tells: heads is a 1. */
interface ResponseCoins {
  readonly one: Coin;
  readonly zero: Coin;
}

/** The coins of randomized responses at this ε₀. */
export function responseCoins(localEpsilon: number): ResponseCoins {
  const flip = 1 / (1 + Math.exp(localEpsilon));
  const keep = 1 / (1 + Math.exp(-localEpsilon));
  return { one: { heads: keep, tails: flip }, zero: { heads: flip, tails: keep } };
}

/**
 * δ(ε) of releasing the sum of everybody's randomized responses, for one person whose bit changes from 0 to 1, where
 * `ones` and `zeros` of the others hold a 1 and a 0. The other direction is (zeros, ones).
 *
 * F, the others' sum, is log-concave. The sum has probability q·F(y) + p·F(y−1) if the person's bit is 0, and p·F(y) +
 * q·F(y−1) if it is 1, so δ = Σ_y [a·F(y) − b·F(y−1)]₊ with a = q − e^ε·p and b = e^ε·q − p; F(y)/F(y−1) decreases, so
 * the positive terms come first: δ is the largest of the sums A(w) up to w. `next` is the second largest, on one side
 * of it.
 */
function deltaAmong(
  ones: number,
  zeros: number,
  localEpsilon: number,
  epsilon: number,
): { delta: number; next: number } {
  const { one, zero } = responseCoins(localEpsilon);
  const a = Math.exp(epsilon) * Math.expm1(localEpsilon - epsilon) * zero.heads;
  const b = Math.expm1(localEpsilon + epsilon) * zero.heads;
  let delta = 0;
  let last = 0;
  let difference = 0;
  for (const probability of sumOfCoins(ones, one, zeros, zero).probabilities) {
    // Too improbable for a double, as are all before it: the sum has not begun.
    if (probability === 0 && last === 0) continue;
    const here = a * probability - b * last;
    if (here <= 0) return { delta, next: delta + Math.max(here, -difference) };
    difference = here;
    delta += difference;
    last = probability;
  }
  return { delta, next: delta };
}

/**
 * At least δ for all datasets with between `low` and `high` ones among the others.
 *
 * Leaving out some of the others can only raise δ, since their answers are noise added afterwards; so leaving out the m
 * = high − low whose bits are open gives D, a first bound. Sharper: each of the m answers wrongly with probability p,
 * which moves the sum by one, down for a 1 and up for a 0. With no wrong answer the sum up to w counts A(w), with one
 * A(w ± 1), a mixture according to how many of the m hold a 1, and with more at most D. A mixture is at most its larger
 * end, so
 *   δ ≤ max_w {b₀·A(w) + b₁·max(A(w−1), A(w+1))} + (1 − b₀ − b₁)·D, b the probabilities of Bin(m, p),
 * and as A rises to its maximum and then falls, only the largest and the second largest of its values count.
 */
function deltaBound(low: number, high: number, others: number, localEpsilon: number, epsilon: number): number {
  const { delta, next } = deltaAmong(low, others - high, localEpsilon, epsilon);
  if (low === high) return delta;
  const { none, single } = wrongAnswers(high - low, responseCoins(localEpsilon).zero);
  const sharper = Math.max(none * delta + single * next, none * next + single * delta) + (1 - none - single) * delta;
  return Math.min(delta, sharper);
}

/** The probability that none, or just one, of some randomized responses is wrong; heads is wrong. */
export function wrongAnswers(responses: number, { heads, tails }: Coin): { none: number; single: number } {
  const none = Math.exp(responses * Math.log1p(-heads));
  return { none, single: (none * responses * heads) / tails };
}

/** The usual work: evaluations times σ, to which their cost is proportional. Takes milliseconds. */
const USUAL_WORK = 20_000;

/**
 * δ(ε) of releasing the sum of n randomized responses: the worst over what the other n−1 hold, a point being how many
 * of them hold a 1. Everybody holding the same is mostly but not always the worst, so all datasets are searched.
 */
export function responseSumDelta(devices: number, localEpsilon: number, epsilon: number, effort: Effort): WorstCase {
  const others = devices - 1;
  const { one, zero } = responseCoins(localEpsilon);
  return worstCase(
    { low: [0], high: [others] },
    {
      ...effort,
      bound: ({ low: [low], high: [high] }) => deltaBound(low as number, high as number, others, localEpsilon, epsilon),
      mostEvaluations: 60 + (effort.patience * USUAL_WORK) / Math.sqrt(1 + devices * one.heads * zero.heads),
    },
  );
}

/** δ(ε) for one dataset. */
export function responseSumDeltaAt([ones]: Point, devices: number, localEpsilon: number, epsilon: number): number {
  return deltaAmong(ones as number, devices - 1 - (ones as number), localEpsilon, epsilon).delta;
}
