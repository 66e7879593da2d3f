import { createDiscreteGaussian } from "../../privacy/discrete-gaussian.ts";
import { type Fields, number, oneOf, optional } from "../../schema/index.ts";
import type { TaskPart } from "../entry.ts";
import { edges, event, eventOf, eventsPerTick, hasNoise, named } from "../metric-fields.ts";
import { roomOf } from "../room.ts";
import {
  type CountedHistogramMetric,
  checkHistogram,
  type HistogramMetric,
  MECHANISMS,
  requireHistogramEpsilon,
} from "./histogram.ts";

const HISTOGRAM: Fields<Omit<HistogramMetric, "noise">> = {
  ...named,
  event,
  statistic: oneOf("histogram"),
  edges,
  localEpsilon: number,
  eventsPerTick,
  mechanism: optional(oneOf(...MECHANISMS)),
};

const COUNTED: Fields<CountedHistogramMetric> = {
  ...named,
  event,
  statistic: oneOf("histogram"),
  noise: oneOf("servers"),
  edges,
  sigma: number,
  eventsPerTick,
};

/** How histogram metrics are written in a task. */
export const histogramInTasks: TaskPart<"histogram"> = {
  forms: [
    { what: "a histogram metric", fields: HISTOGRAM },
    { what: "a metric with noise of the servers", isFor: hasNoise, fields: COUNTED },
  ],
  check: (metric, { ticks, isLimited }) => {
    const { edges: begins, eventsPerTick: most } = metric;
    checkHistogram({ edges: begins, eventsPerTick: most, ticks });
    if (isLimited) roomOf({ eventsPerTick: most, ticks });
    if (metric.noise) createDiscreteGaussian(metric.sigma);
    else requireHistogramEpsilon(metric.localEpsilon, metric.mechanism);
  },
  events: eventOf,
  questionOf: (metric, delta) => {
    const { edges: begins } = metric;
    if (metric.noise) return { goal: { sigma: metric.sigma, delta }, edges: begins };
    const { localEpsilon, mechanism } = metric;
    return { goal: { localEpsilon, delta }, edges: begins, ...(mechanism && { mechanism }) };
  },
};
