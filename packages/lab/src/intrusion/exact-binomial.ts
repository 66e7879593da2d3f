import { lowerPart } from "@lethe/core/privacy";

/** Pr[at least `least` of `n` coins show heads]. */
function atLeast(n: number, heads: number, least: number): number {
  // As the other side's lower part, which is summed where it is small.
  return lowerPart(n, { heads: 1 - heads, tails: heads }, n - least).probability;
}

/**
 * Clopper and Pearson: the shares of heads for which so many of `n` are not too few and not too many, each with probability
 * `level` / 2. Holds the true share with probability 1 − level at least, for every n.
 */
export function shareInterval(n: number, heads: number, level: number): readonly [low: number, high: number] {
  const low = heads === 0 ? 0 : crossing((share) => atLeast(n, share, heads) > level / 2);
  const high = heads === n ? 1 : crossing((share) => atLeast(n, 1 - share, n - heads) <= level / 2);
  return [low, high];
}

/** The share at which what is false below becomes true. */
function crossing(isAbove: (share: number) => boolean): number {
  let [low, high] = [0, 1];
  for (let i = 0; i < 50; i++) {
    const middle = (low + high) / 2;
    if (isAbove(middle)) high = middle;
    else low = middle;
  }
  return (low + high) / 2;
}

/** 2·Pr[right] − 1, from so many right guesses among `n`, with an interval that misses it with probability `level` at most. */
export interface Advantage {
  readonly advantage: number;
  readonly low: number;
  readonly high: number;
}

export function advantageOf(n: number, right: number, level: number): Advantage {
  const [low, high] = shareInterval(n, right, level);
  return { advantage: (2 * right) / n - 1, low: 2 * low - 1, high: 2 * high - 1 };
}

/** With which probability somebody with this advantage is seen to have one: the interval lies above 0. */
export function powerOf(n: number, advantage: number, level: number): number {
  return atLeast(n, (1 + advantage) / 2, fewestConvincing(n, level));
}

/** Right guesses that coins reach with probability level / 2 at most. */
function fewestConvincing(n: number, level: number): number {
  let [low, high] = [Math.floor(n / 2), n + 1];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (atLeast(n, 0.5, middle) <= level / 2) high = middle;
    else low = middle;
  }
  return high;
}

/** The fewest games, but for a few, in which this advantage, and any larger one, is seen with this probability. */
export function gamesFor(advantage: number, level: number, power: number): number {
  // From one number of games to the next the power may fall back a little, when one more right guess is asked for.
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
