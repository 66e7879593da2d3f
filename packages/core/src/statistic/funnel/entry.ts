import { namedEntry } from "../automaton/named-entry.ts";
import { NONE } from "../automaton/parts.ts";
import type { StatisticEntry } from "../entry.ts";
import { eventNames, ONE_DAY } from "../metric-fields.ts";
import { type FunnelSettings, funnelAutomaton, funnelLabels } from "./funnel.ts";

/** How far did devices get, in this order? `funnel.ts` has the automaton. */
export const funnel: StatisticEntry<"funnel"> = namedEntry<"funnel", FunnelSettings>("funnel", {
  what: "a funnel metric",
  fields: { steps: eventNames },
  automaton: funnelAutomaton,
  labels: funnelLabels,
  summary: ({ steps }) => ({
    field: "reached",
    isShare: false,
    figures: steps.map((label, i) => ({
      label,
      categories: Array.from({ length: steps.length - i }, (_, further) => i + 1 + further),
    })),
  }),
  example: { ...ONE_DAY, metric: { name: "checkout", steps: ["cart.opened", "address.entered", "paid"] } },
  words: {
    question: "How far do devices get, in this order?",
    heading: "stopped at",
    category: (label) => (label === NONE ? "no step" : `stopped at ${label}`),
    emptyFigure: "an empty step",
    events: "an event counts if it is the next step",
    title: (name) => `${name}: devices that reached each step`,
  },
});
