import type { Answers } from "./aggregate.ts";
import { perBucketCoins, unaryCoins } from "./bucket-sum.ts";
import { type ClampedSum, clampedCharge } from "./clamped-sum.ts";
import { type Charge, pureCharge } from "./composition.ts";
import { hijackedKaryDelta, hijackedResponseDelta } from "./hijacked-sum.ts";
import { INVALID_COUNT_EPSILON } from "./invalid-count.ts";
import { responseCoins } from "./response-sum.ts";

/**
 * The price of a hijacked report, which an intruder made from a captured state and shaped at will: the δ(ε) between any
 * two answers that the server accepts, hidden only by the noise of `others`, honest devices. Composed over all metrics
 * of a task, because one state may be put under any of them. With more patience a charge is sharper, and takes longer.
 * Unary and per-bucket answers without their number of buckets are a `RangeError`.
 */
export function hijackedCharge(
  others: number,
  localEpsilon: number,
  answers: Answers,
  times = 1,
  patience = 0.03,
): Charge {
  const honest = Math.min(others, MOST_HONEST);
  if (answers.mechanism === "kary" && answers.buckets > 2) {
    const { buckets } = answers;
    return chargeOf((epsilon) => hijackedKaryDelta(honest, buckets, localEpsilon, epsilon), times);
  }
  const questions = questionsIn(answers);
  const coins = COINS[answers.mechanism](localEpsilon);
  const effort = { candidates: [[0], [honest]], tolerance: 1e-4, patience };
  return chargeOf((epsilon) => hijackedResponseDelta(honest, coins, epsilon, effort), times * questions);
}

/**
 * An accepted vector may have a 1 in every bucket, or in none, so each bucket is a question by itself: guessing their
 * number would promise too much.
 */
function questionsIn(answers: Answers): number {
  if (answers.mechanism !== "unary" && answers.mechanism !== "per-bucket") return 1;
  const { mechanism, buckets } = answers;
  if (buckets === undefined || !Number.isInteger(buckets) || buckets < 2) {
    throw new RangeError(`buckets of a ${mechanism} answer is a whole number from 2 on, not ${buckets}`);
  }
  return buckets;
}

/** With more a charge takes many seconds; leaving some out only raises δ. */
const MOST_HONEST = 1e8;

const COINS = {
  "randomized-response": responseCoins,
  /** Of two buckets. */
  kary: responseCoins,
  unary: unaryCoins,
  "per-bucket": perBucketCoins,
} as const;

/** From one end of the clamp to the other: `sensitivity` is that of an honest device. */
export function hijackedMeanCharge({ sensitivity, clamp, ...sum }: ClampedSum, times = 1): Charge {
  return clampedCharge({ ...sum, clamp, sensitivity: sensitivity + 2 * clamp }, times);
}

/** Whether one report was found invalid changes their noised number by 1, where the noise is made for 2. */
export function hijackedInvalidCharge(times = 1): Charge {
  return pureCharge(INVALID_COUNT_EPSILON / 2, times);
}

function chargeOf(curve: (epsilon: number) => number, times: number): Charge {
  // For rounding, and for the tails of e^{−50} that are left out of sums.
  const delta = (epsilon: number): number => Math.min(1, curve(epsilon) * (1 + 1e-10) + 1e-21);
  return { times, delta, least: delta(LARGEST_LOSS) };
}

/** Far beyond any likelihood ratio of two outcomes that are both possible. */
const LARGEST_LOSS = 500;
