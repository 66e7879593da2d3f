import { atLeast } from "../intrusion/exact-binomial.ts";

/** The probability that a coin guesses at least `right` of `rounds`. */
export function chanceOf(right: number, rounds: number): number {
  return right <= 0 ? 1 : atLeast(rounds, 0.5, right);
}

/** How often luck alone is called more than luck, for all players together and a number of rounds that was fixed. */
const LEVEL = 0.001;

/** Whether luck hardly explains a score, even as the best among this number of players. */
export function isBeyondLuck(chance: number, players: number): boolean {
  return chance * players <= LEVEL;
}
