import type { AdditiveScheme } from "../../encryption/index.ts";
import { type DiscreteGaussian, drawDiscreteGaussian } from "../../privacy/discrete-gaussian.ts";
import { drawKary, type KaryResponse } from "../../privacy/kary-response.ts";
import type { Sealing } from "./sealing.ts";
import type { Move } from "./slots.ts";

/** What can be added and multiplied by public numbers. */
export type Adding<Ciphertext> = Pick<AdditiveScheme<number, unknown, unknown, Ciphertext>, "add" | "scale">;

/**
 * One ciphertext with the number of a category, the sum of weighted slots: kept and rerandomized, or replaced by an
 * encryption of a uniform category. Both are always prepared.
 */
export function answeredCategory<C>(scheme: Adding<C>, weights: readonly number[], response: KaryResponse): Sealing<C> {
  return {
    length: 1,
    draw: (random) => {
      const { keep, decoy } = drawKary(response, random);
      return (slots, { encrypt, rerandomize }) => {
        const kept = rerandomize(weightedSum(scheme, weights, slots));
        const replaced = encrypt(decoy);
        return [keep ? kept : replaced];
      };
    },
  };
}

/** One ciphertext with the sum of weighted slots and noise. Encrypting the noise makes all of it fresh. (Alg. 4, l. 5–7.) */
export function noisyNumber<C>(scheme: Adding<C>, weights: readonly number[], noise: DiscreteGaussian): Sealing<C> {
  return {
    length: 1,
    draw: (random) => {
      const drawn = Number(drawDiscreteGaussian(noise, random));
      return (slots, { encrypt }) => [scheme.add(weightedSum(scheme, weights, slots), encrypt(drawn))];
    },
  };
}

function weightedSum<C>({ add, scale }: Adding<C>, weights: readonly number[], slots: readonly C[]): C {
  return slots
    .map((slot, i) => {
      const weight = weights[i] as number;
      return weight === 1 ? slot : scale(weight, slot);
    })
    .reduce((sum, slot) => add(sum, slot));
}

/** For every category the slots of its states, which add up to its bit. */
export function categorySums(
  states: readonly number[],
  categories: number,
  categoryOf: (state: number) => number,
): Move {
  const sums: number[][] = Array.from({ length: categories }, () => []);
  for (const [slot, state] of states.entries()) sums[categoryOf(state)]?.push(slot);
  return sums.map((slots) => (slots.length > 0 ? slots : 0));
}
