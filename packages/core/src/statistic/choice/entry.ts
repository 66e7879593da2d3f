import { namedEntry } from "../automaton/named-entry.ts";
import type { StatisticEntry } from "../entry.ts";
import { eventNames, ONE_DAY } from "../metric-fields.ts";
import { type ChoiceSettings, choiceAutomaton, choiceLabels } from "./choice.ts";
import { keep } from "./fields.ts";

/** Which option did devices choose, first, last, or the highest? `choice.ts` has the automaton. */
export const choice: StatisticEntry<"choice"> = namedEntry<"choice", ChoiceSettings>("choice", {
  what: "a choice metric",
  fields: { options: eventNames, keep },
  automaton: choiceAutomaton,
  labels: choiceLabels,
  example: { ...ONE_DAY, metric: { name: "export.format", options: ["pdf", "png", "svg"], keep: "last" } },
  words: {
    question: "Which option do devices take: first, last, or the highest?",
    heading: "option",
    emptyFigure: "an option that nobody chose",
    events: "one option of a device counts",
    title: (name) => `${name}: devices by the option that counts`,
  },
});
