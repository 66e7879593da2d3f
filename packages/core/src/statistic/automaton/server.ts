import { createElGamalCounter, type ElGamalCounter } from "../../encryption/elgamal/elgamal.ts";
import type { RistrettoGroup } from "../../encryption/elgamal/group.ts";
import type { Statistic } from "../entry.ts";
import { isHistogramAnswer, respondHistogram } from "../histogram/answer.ts";
import { histogramEstimates } from "../histogram/histogram.ts";
import { clampedAnswer, drawOnNoEvent, meanEstimates, meanNoise } from "../mean/mean.ts";
import type { AnswerReader, ServerSide } from "../statistic.ts";
import type { WritesSpec } from "../writes.ts";
import { type Automaton, finalState } from "./automaton.ts";
import { type AutomatonAnswers, type AutomatonNoise, answersOf, automatonDevice } from "./device.ts";
import { automataServer, type CounterScheme } from "./machine.ts";

/**
 * The server's half of any automaton. The answers of categories are a bit for each, those of numbers the number. A
 * report that no honest device sends counts as a draw on the state that the ends of periods alone lead to.
 */
export function automatonServer<P, S, C>(
  scheme: CounterScheme<P, S, C>,
  automaton: Automaton,
  answers: AutomatonAnswers,
): ServerSide {
  const isSum = answers.kind === "number" || answers.mechanism.name === "kary";
  const reportLength = isSum ? 1 : answers.output.categories;
  const estimates = answers.kind === "number" ? meanEstimates(answers.numbers) : histogramEstimates(answers.mechanism);
  return { ...automataServer(scheme, { reportLength, keys: 1 }, readerOf(automaton, answers)), ...estimates };
}

function readerOf(automaton: Automaton, answers: AutomatonAnswers): AnswerReader<number> {
  const untouched = finalState(automaton, []);
  if (answers.kind === "number") {
    const { numbers, output } = answers;
    const noise = meanNoise(numbers);
    const number = output.numberOf(untouched);
    return {
      read: (sums) => sums.map((sum) => clampedAnswer(numbers, noise, sum)),
      onNoEvent: (random) => [drawOnNoEvent(numbers, noise, random, number)],
    };
  }
  const { mechanism, output } = answers;
  const bitsOf = (category: number): number[] =>
    Array.from({ length: output.categories }, (_, each) => Number(each === category));
  const category = output.categoryOf(untouched);
  return {
    read: (messages) => {
      const bits = mechanism.name === "kary" ? bitsOf(messages[0] as number) : messages;
      return isHistogramAnswer(mechanism, bits) ? bits : undefined;
    },
    onNoEvent: (random) => respondHistogram(mechanism, category, random),
  };
}

/** ElGamal with the range in which every honest message lies: of categories their numbers, or bits. */
function elgamalFor(answers: AutomatonAnswers, group?: RistrettoGroup): ElGamalCounter {
  if (answers.kind === "number") {
    const { minimum = 0, limit } = answers.numbers;
    const { reach } = meanNoise(answers.numbers);
    return createElGamalCounter({ minimum: minimum - reach, maximum: limit + reach }, group);
  }
  const maximum = answers.mechanism.name === "kary" ? answers.output.categories - 1 : 1;
  return createElGamalCounter({ minimum: 0, maximum }, group);
}

/** Both halves of any automaton, on ElGamal; the server's runs on `group`. */
export function automatonStatistic(
  automaton: Automaton,
  noise: AutomatonNoise,
  writes: WritesSpec,
  group?: RistrettoGroup,
): Statistic {
  const answers = answersOf(automaton, noise);
  return {
    device: automatonDevice(automaton, noise, writes),
    server: automatonServer(elgamalFor(answers, group), automaton, answers),
  };
}
