import { type Randomness, uniformBelow } from "../randomness/index.ts";

/**
 * Probabilities of the mechanisms are multiples of 2⁻⁴⁰, drawn exactly. Those that are irrational in theory are
 * rounded to the side of more privacy, so that what a mechanism costs is computed from what it does.
 */
const PROBABILITY_UNIT = 2 ** -40;
const UNITS = 2 ** 40;

/** The multiple of 2⁻⁴⁰ above; one unit more than the rounding needs outweighs the error of computing `value`. */
export function probabilityAbove(value: number): number {
  return (Math.ceil(value * UNITS) + 1) * PROBABILITY_UNIT;
}

/** The multiple of 2⁻⁴⁰ below, likewise. */
export function probabilityBelow(value: number): number {
  return Math.max(0, (Math.floor(value * UNITS) - 1) * PROBABILITY_UNIT);
}

/**
 * The index of the interval into which a uniform point falls: probabilities are multiples of 2⁻⁴⁰, the rest is last.
 */
export function drawOutcome(random: Randomness, ...probabilities: readonly number[]): number {
  let rest = uniformBelow(random, UNITS);
  for (const [outcome, probability] of probabilities.entries()) {
    rest -= probability * UNITS;
    if (rest < 0) return outcome;
  }
  return probabilities.length;
}
