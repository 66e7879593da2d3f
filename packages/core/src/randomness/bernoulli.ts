import type { Randomness } from "./randomness.ts";
import { uniformBelowBig } from "./uniform.ts";

/** True with probability exactly numerator/denominator. */
export function bernoulli(random: Randomness, numerator: bigint, denominator: bigint): boolean {
  if (denominator < 1n || numerator < 0n || numerator > denominator) {
    throw new RangeError(`a probability lies between 0 and 1, unlike ${numerator}/${denominator}`);
  }
  return uniformBelowBig(random, denominator) < numerator;
}
