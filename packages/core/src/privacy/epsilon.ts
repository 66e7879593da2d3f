/**
 * Below the least, probabilities would no longer tell the answers apart; above the most there is no privacy to speak
 * of.
 */
export const LEAST_EPSILON = 1e-6;
/** The largest ε₀ of one answer. */
export const MOST_EPSILON = 20;

/** Refuses an ε₀ out of range, with a `RangeError`. `answers` is how many answers share it equally. */
export function requireEpsilon(epsilon: number, answers = 1): void {
  if (!(epsilon >= answers * LEAST_EPSILON && epsilon <= answers * MOST_EPSILON)) {
    const range = `${answers * LEAST_EPSILON} to ${answers * MOST_EPSILON}`;
    throw new RangeError(`localEpsilon is a number from ${range}, not ${epsilon}`);
  }
}

/** What a bit costs that is flipped with this probability: ln((1−flip)/flip). */
export function epsilonOfFlip(flip: number): number {
  return Math.log((1 - flip) / flip);
}
