import { described, whole } from "../../schema/index.ts";
import { namedEntry } from "../automaton/named-entry.ts";
import type { StatisticEntry } from "../entry.ts";
import { bucketName } from "../histogram/histogram.ts";
import { edges, event } from "../metric-fields.ts";
import { MOST_TICKS } from "../writes.ts";
import { type ActivePeriodsSettings, activePeriodsAutomaton } from "./active-periods.ts";

/** In how many periods of the window did it happen? `active-periods.ts` has the automaton. */
export const activePeriods: StatisticEntry<"active-periods"> = namedEntry<"active-periods", ActivePeriodsSettings>(
  "active-periods",
  {
    what: "an active-periods metric",
    fields: {
      event,
      periodTicks: described(whole(1, MOST_TICKS), "the length of a period in ticks; the last may be shorter"),
      edges,
    },
    automaton: activePeriodsAutomaton,
    labels: (settings) => settings.edges.map((_, bucket) => bucketName(settings.edges, bucket)),
    words: {
      heading: "periods",
      emptyFigure: "an empty bucket",
      events: "one event in a period counts as many do",
      title: (name) => `${name}: devices by the number of periods in which it happened`,
    },
  },
);
