import { type Randomness, seededRandomnessForTests } from "@lethe/core/randomness";

/** Whether it happened on a device. */
export type Bit = 0 | 1;
/** The four attacks. */
export type AttackName = "replay amplification" | "validity oracle" | "key averaging" | "double query";

/**
 * An attacker who wants to know one bit of one device, in a world with a defence and in one without.
 *
 * The attack is played on twins: two devices that differ in the bit alone, in worlds whose coins fall alike wherever
 * that can be arranged. An attacker who learns nothing says the same of both twins and is right about one of them. Only
 * an attacker who can distinguish them is right about both, or wrong about both.
 */
export interface Attack {
  readonly name: AttackName;
  /** The rule of Lethe that stops it. */
  readonly defence: string;
  /** What the attacker guesses about a pair of twins after each of several efforts, the least first. */
  play(defended: boolean, coins: Coins): Promise<readonly Guesses[]>;
}

/** The guesses about both twins after one effort. */
export interface Guesses {
  readonly effort: number;
  /** The guess about the twin whose bit is 0. */
  readonly of0: Bit;
  readonly of1: Bit;
}

/** The randomness of a game. */
export interface Coins {
  /** New coins at every call. */
  readonly fresh: Randomness;
  /** The same coins, from the first on, for both twins. */
  shared(purpose: string): Randomness;
}

/** How an attack went at its greatest effort, and after lesser ones. */
export interface Score {
  readonly trials: number;
  /** The share of trials in which the bit was guessed right. */
  readonly recovered: number;
  /**
   * Wilson's for 95%, as if all trials were independent. Twins are not: the pairs below may show an advantage that this
   * hides.
   */
  readonly interval: readonly [low: number, high: number];
  /** Pairs of which both were guessed right, and both wrong. Of all other pairs both were guessed alike. */
  readonly bothRight: number;
  readonly bothWrong: number;
  readonly byEffort: readonly { readonly effort: number; readonly recovered: number }[];
}

/** Plays an attack on pairs of twins; `played` is called after each. */
export async function score(
  { play }: Pick<Attack, "play">,
  defended: boolean,
  pairs: number,
  random: Randomness,
  played: () => void = () => {},
): Promise<Score> {
  const guesses: (readonly Guesses[])[] = [];
  for (let pair = 0; pair < pairs; pair++) {
    guesses.push(await play(defended, coinsFrom(random)));
    played();
  }
  const trials = 2 * pairs;
  const byEffort = (guesses[0] ?? []).map(({ effort }, i) => {
    const right = guesses.map((pair) => rightIn(pair[i]));
    return {
      effort,
      recovered: right.reduce((sum, count) => sum + count, 0) / trials,
      bothRight: right.filter((count) => count === 2).length,
      bothWrong: right.filter((count) => count === 0).length,
    };
  });
  const last = byEffort.at(-1);
  if (last === undefined) throw new RangeError("an attack is played on one pair at least, with one effort at least");
  const { recovered, bothRight, bothWrong } = last;
  return {
    trials,
    recovered,
    interval: wilsonInterval(recovered, trials),
    bothRight,
    bothWrong,
    byEffort: byEffort.map((entry) => ({ effort: entry.effort, recovered: entry.recovered })),
  };
}

function coinsFrom(random: Randomness): Coins {
  const seed = new Uint8Array(32);
  random(seed);
  return { fresh: random, shared: (purpose) => seededRandomnessForTests(`${seed.join()} ${purpose}`) };
}

function rightIn(guesses: Guesses | undefined): number {
  if (guesses === undefined) throw new RangeError("an attack makes the same efforts in all trials");
  return Number(guesses.of0 === 0) + Number(guesses.of1 === 1);
}

/**
 * Wilson's interval for 95%: the true shares from which this one is at most 1.96 of their standard deviations away
 * [Wil27].
 *
 * [Wil27] Wilson, Probable inference, the law of succession, and statistical inference, 1927.
 */
export function wilsonInterval(share: number, trials: number): [low: number, high: number] {
  const z = 1.959963984540054;
  const middle = share + z ** 2 / (2 * trials);
  const reach = z * Math.sqrt((share * (1 - share)) / trials + (z / (2 * trials)) ** 2);
  const scale = 1 + z ** 2 / trials;
  return [Math.max(0, (middle - reach) / scale), Math.min(1, (middle + reach) / scale)];
}
