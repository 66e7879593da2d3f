import { elgamalIntegers } from "../../encryption/elgamal/elgamal.ts";
import { drawHistogramResponses } from "../histogram/answer.ts";
import { categoryMechanism, type HistogramMechanism, type HistogramMechanismName } from "../histogram/histogram.ts";
import { meanNoise, type NoisyNumbers, requireSigma } from "../mean/mean.ts";
import type { DeviceSide } from "../statistic.ts";
import { checkWrites, type WritesSpec } from "../writes.ts";
import type { Automaton, CategoryOutput, NumberOutput } from "./automaton.ts";
import { type EncryptedAutomaton, encryptedAutomata, type SlotScheme } from "./machine.ts";
import { oneHotSlots } from "./one-hot.ts";
import { answeredBits } from "./sealing.ts";
import { type Adding, answeredCategory, categorySums, noisyNumber } from "./sums.ts";

/** The noise of a device's answer: an ε for categories, a σ for numbers, in units of their largest difference. */
export type AutomatonNoise = CategoryNoise | NumberNoise;

/** Of categories. */
export interface CategoryNoise {
  readonly localEpsilon: number;
  /** The one with the least error if absent. */
  readonly mechanism?: HistogramMechanismName | undefined;
}

/** Of numbers. */
export interface NumberNoise {
  readonly sigma: number;
}

/** What an automaton's answers are, and how they are noised. */
export type AutomatonAnswers =
  | { readonly kind: "category"; readonly output: CategoryOutput; readonly mechanism: HistogramMechanism }
  | { readonly kind: "number"; readonly output: NumberOutput; readonly numbers: NoisyNumbers };

/** Refuses with a `RangeError` an automaton whose outputs are all the same, and noise that is not for them. */
export function answersOf({ states, output }: Automaton, noise: AutomatonNoise): AutomatonAnswers {
  const all = Array.from({ length: states }, (_, state) => state);
  if (output.kind === "category") {
    if (!("localEpsilon" in noise)) throw new RangeError("localEpsilon is required: the outputs are categories");
    if (all.every((state) => output.categoryOf(state) === 0)) throw new RangeError("outputs are all the same");
    const { localEpsilon, mechanism } = noise;
    const named = mechanism === undefined ? { localEpsilon } : { localEpsilon, mechanism };
    return { kind: "category", output, mechanism: categoryMechanism(output.categories, named) };
  }
  if (!("sigma" in noise)) throw new RangeError("sigma is required: the outputs are numbers");
  const values = all.map((state) => output.numberOf(state));
  const [minimum, limit] = [Math.min(...values), Math.max(...values)];
  if (minimum === limit) throw new RangeError("outputs are all the same");
  const numbers = { minimum, limit, sigma: noise.sigma };
  requireSigma(numbers);
  return { kind: "number", output, numbers };
}

/**
 * The slots of an automaton and how they are sealed. With K-ary response a report is one ciphertext, the number of the
 * category; with other mechanisms it has a bit for every category; of numbers it is one ciphertext.
 */
export function encryptedAutomaton<P, C>(
  scheme: SlotScheme<P, C> & Adding<C>,
  automaton: Automaton,
  answers: AutomatonAnswers,
): EncryptedAutomaton<C> {
  if (answers.kind === "category" && answers.mechanism.name !== "kary") {
    const { mechanism, output } = answers;
    const slots = oneHotSlots(automaton, () => true);
    const sums = categorySums(slots.states, output.categories, output.categoryOf);
    return { slots, sealing: answeredBits(sums, (random) => drawHistogramResponses(mechanism, random)) };
  }
  const weightOf = answers.kind === "category" ? answers.output.categoryOf : answers.output.numberOf;
  const slots = oneHotSlots(automaton, (state) => weightOf(state) !== 0);
  const weights = slots.states.map(weightOf);
  const sealing =
    answers.kind === "number"
      ? noisyNumber(scheme, weights, meanNoise(answers.numbers))
      : answeredCategory(scheme, weights, answers.mechanism as HistogramMechanism & { name: "kary" });
  return { slots, sealing };
}

/** The device's half of any automaton, on ElGamal. */
export function automatonDevice(automaton: Automaton, noise: AutomatonNoise, writes: WritesSpec): DeviceSide {
  checkWrites(writes);
  const answers = answersOf(automaton, noise);
  return encryptedAutomata(elgamalIntegers, writes, [encryptedAutomaton(elgamalIntegers, automaton, answers)]);
}
