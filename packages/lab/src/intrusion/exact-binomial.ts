import { lowerPart } from "@lethe/core/privacy";

/** Pr[at least `least` of `n` coins show heads], where `heads` is the probability for one coin. */
export function atLeast(n: number, heads: number, least: number): number {
  // As the other side's lower part, which is summed where it is small.
  return lowerPart(n, { heads: 1 - heads, tails: heads }, n - least).probability;
}

/**
 * Clopper and Pearson's interval: the shares for which `heads` of `n` are neither too few nor too many, each with
 * probability `level` / 2. Holds the true share with probability 1 − level at least, for every n.
 */
export function shareInterval(n: number, heads: number, level: number): readonly [low: number, high: number] {
  const low = heads === 0 ? 0 : crossing((share) => atLeast(n, share, heads) > level / 2);
  const high = heads === n ? 1 : crossing((share) => atLeast(n, 1 - share, n - heads) <= level / 2);
  return [low, high];
}

/** The share from which on the condition holds. */
function crossing(isAbove: (share: number) => boolean): number {
  let [low, high] = [0, 1];
  for (let i = 0; i < 50; i++) {
    const middle = (low + high) / 2;
    if (isAbove(middle)) high = middle;
    else low = middle;
  }
  return (low + high) / 2;
}

/** 2·Pr[right] − 1, with an interval. */
export interface Advantage {
  readonly advantage: number;
  readonly low: number;
  readonly high: number;
}

/** Estimates an advantage from `right` guesses among `n`; the interval misses it with probability `level` at most. */
export function advantageOf(n: number, right: number, level: number): Advantage {
  const [low, high] = shareInterval(n, right, level);
  return { advantage: (2 * right) / n - 1, low: 2 * low - 1, high: 2 * high - 1 };
}

/** The probability that an intruder with this advantage is seen to have one: that the interval is above 0. */
export function powerOf(n: number, advantage: number, level: number): number {
  return atLeast(n, (1 + advantage) / 2, fewestConvincing(n, level));
}

/** The smallest number of right guesses that coins reach with probability level / 2 at most. */
function fewestConvincing(n: number, level: number): number {
  let [low, high] = [Math.floor(n / 2), n + 1];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (atLeast(n, 0.5, middle) <= level / 2) high = middle;
    else low = middle;
  }
  return high;
}

/** How many games it takes, up to a few, to see this advantage, and any larger one, with this probability. */
export function gamesFor(advantage: number, level: number, power: number): number {
  // The power may fall a little from one number of games to the next, where one more right guess is required.
  const isEnough = (n: number): boolean =>
    [n, n + 1, n + 2, n + 3].every((games) => powerOf(games, advantage, level) >= power);
  let most = 1;
  while (!isEnough(most)) most *= 2;
  let least = most / 2;
  while (most - least > 1) {
    const middle = Math.floor((least + most) / 2);
    if (isEnough(middle)) most = middle;
    else least = middle;
  }
  return most;
}
