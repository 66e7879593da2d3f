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
    // A week, with a tick every hour.
    example: {
      ...{ tickSeconds: 3600, ticks: 168 },
      metric: { name: "days.active", event: "app.opened", periodTicks: 24, edges: [0, 1, 3, 5] },
    },
    words: {
      question: "On how many days of the window?",
      heading: "periods",
      emptyFigure: "an empty bucket",
      events: "one event in a period counts as many do",
      title: (name) => `${name}: devices by the number of periods in which it happened`,
    },
  },
);
