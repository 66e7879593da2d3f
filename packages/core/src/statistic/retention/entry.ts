import { described, whole } from "../../schema/index.ts";
import { namedEntry } from "../automaton/named-entry.ts";
import type { StatisticEntry } from "../entry.ts";
import { event } from "../metric-fields.ts";
import {
  MOST_RETENTION_PERIODS,
  patternsWith,
  type RetentionSettings,
  retentionAutomaton,
  retentionLabels,
} from "./retention.ts";

/** In which periods of the window did it happen? `retention.ts` has the automaton. */
export const retention: StatisticEntry<"retention"> = namedEntry<"retention", RetentionSettings>("retention", {
  what: "a retention metric",
  fields: {
    event,
    periods: described(whole(2, MOST_RETENTION_PERIODS), "how many periods of equal length the window has"),
  },
  automaton: retentionAutomaton,
  labels: retentionLabels,
  summary: ({ periods }) => ({
    field: "curve",
    isShare: true,
    figures: Array.from({ length: periods }, (_, period) => ({
      label: `period ${period + 1}`,
      categories: patternsWith({ periods }, period),
    })),
  }),
  // Four weeks, with a tick every hour.
  example: { tickSeconds: 3600, ticks: 672, metric: { name: "weeks.active", event: "app.opened", periods: 4 } },
  words: {
    question: "Do they come back, week after week?",
    heading: "pattern",
    emptyFigure: "a pattern that no device has",
    events: "one event in a period counts as many do",
    title: (name) => `${name}: the share of devices on which it happened, by period`,
  },
});
