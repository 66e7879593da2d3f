import { type Fields, number, oneOf, stricter } from "../../schema/index.ts";
import type { TaskPart } from "../entry.ts";
import { event, eventOf, eventsPerTick, named, ONE_DAY } from "../metric-fields.ts";
import { roomOf } from "../room.ts";
import { checkMean, type MeanMetric } from "./mean.ts";

const MEAN: Fields<Omit<MeanMetric, "noise">> = {
  ...named,
  event,
  statistic: oneOf("mean"),
  limit: stricter(number, { type: "integer", minimum: 1 }),
  sigma: number,
  eventsPerTick,
};

/** How mean metrics are written in a task. */
export const meanInTasks: TaskPart<"mean"> = {
  forms: [{ what: "a mean metric", fields: MEAN }],
  check: ({ limit, sigma, eventsPerTick: most }, { ticks, isLimited }) => {
    if (isLimited) roomOf({ eventsPerTick: most, ticks });
    checkMean({ limit, sigma, eventsPerTick: most, ticks });
  },
  events: eventOf,
  example: { ...ONE_DAY, metric: { name: "tabs.opened", statistic: "mean", limit: 10, sigma: 2 } },
  questionOf: ({ sigma, limit }, delta) => ({ goal: { sigma, delta }, limit }),
};
