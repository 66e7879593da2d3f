import { namedEntry } from "../automaton/named-entry.ts";
import type { StatisticEntry } from "../entry.ts";
import { ONE_DAY } from "../metric-fields.ts";
import { componentLabels, components } from "./components.ts";
import { type JointSettings, jointAutomaton } from "./joint.ts";

/** The sign between the two categories of a pair. */
const TIMES = " × ";
/** Stands for all categories of a side. */
const ANY = "any";

/**
 * How many devices are in each pair of categories of two statistics? `joint.ts` has the automaton, which `product.ts`
 * puts together; `components.ts` says how its sides are written.
 */
export const joint: StatisticEntry<"joint"> = namedEntry<"joint", JointSettings>("joint", {
  what: "a joint metric",
  fields: { of: components },
  automaton: (settings, place) => {
    for (const [i, labels] of sidesOf(settings).entries()) {
      if (labels.includes(ANY)) throw new RangeError(`of[${i}] names ${ANY}, which stands for all: use another name`);
    }
    return jointAutomaton(settings, place);
  },
  labels: (settings) => {
    const [first, second] = sidesOf(settings);
    return first.flatMap((one) => second.map((other) => one + TIMES + other));
  },
  summary: (settings) => {
    const [first, second] = sidesOf(settings);
    return {
      field: "margins",
      isShare: false,
      figures: [
        ...first.map((label, i) => ({
          label: label + TIMES + ANY,
          categories: second.map((_, j) => i * second.length + j),
        })),
        ...second.map((label, j) => ({
          label: ANY + TIMES + label,
          categories: first.map((_, i) => i * second.length + j),
        })),
      ],
    };
  },
  example: {
    ...ONE_DAY,
    metric: {
      name: "paid.format",
      of: [
        { statistic: "occurrence", event: "paid" },
        { statistic: "choice", options: ["pdf", "png"], keep: "last" },
      ],
    },
  },
  words: {
    question: "How do two of these go together?",
    heading: "pair",
    emptyFigure: "an empty pair",
    events: "each side of the table counts by itself",
    title: (name) => `${name}: devices by pair`,
  },
});

function sidesOf({ of }: JointSettings): readonly [readonly string[], readonly string[]] {
  const [first, second] = of.map(componentLabels);
  return [first ?? [], second ?? []];
}
