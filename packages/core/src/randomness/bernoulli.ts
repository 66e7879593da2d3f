import type { Randomness } from "./randomness.ts";
import { uniformBelowBig } from "./uniform-big.ts";

/** True with probability exactly numerator/denominator. */
export function bernoulli(random: Randomness, numerator: bigint, denominator: bigint): boolean {
  if (denominator < 1n || numerator < 0n || numerator > denominator) {
    throw new RangeError(`a probability is from 0 to 1, not ${numerator}/${denominator}`);
  }
  return uniformBelowBig(random, denominator) < numerator;
}
