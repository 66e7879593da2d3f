import { respond } from "../../privacy/randomized-response.ts";
import { finalState } from "../automaton/automaton.ts";
import { respondHistogram } from "../histogram/answer.ts";
import { histogramEstimates } from "../histogram/histogram.ts";
import { responsesOf } from "../occurrence/automaton.ts";
import { occurrenceEstimates } from "../occurrence/occurrence.ts";
import type { CollusionSpec } from "../spec.ts";
import type { TwoServerParts } from "../two-server.ts";
import { answeredCategories } from "./categories.ts";
import { collusionDevice } from "./device.ts";

/** Both halves. Of an occurrence a report has one slot, of categories one for each, of which exactly one holds 1. */
export function collusionStatistic(spec: CollusionSpec): TwoServerParts {
  const device = collusionDevice(spec);
  const common = { device: () => device, collusion: "one-server" } as const;
  if (spec.statistic === "occurrence") {
    const responses = responsesOf(spec);
    return {
      ...common,
      ...occurrenceEstimates(responses),
      answerOf: responses.map((_, i) => i),
      answers: responses.length,
      isOneHot: false,
      onNoEvent: (random) => responses.map((response) => respond(response, 0, random)),
    };
  }
  const { automaton, mechanism } = answeredCategories(spec);
  const { categories, categoryOf } = automaton.output;
  const untouched = categoryOf(finalState(automaton, []));
  return {
    ...common,
    ...histogramEstimates(mechanism),
    answerOf: Array.from({ length: categories }, (_, category) => category),
    answers: categories,
    isOneHot: true,
    onNoEvent: (random) => respondHistogram(mechanism, untouched, random),
  };
}
