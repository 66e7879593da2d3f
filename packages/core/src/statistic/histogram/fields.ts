import { createDiscreteGaussian } from "../../privacy/discrete-gaussian.ts";
import { described, type Field, type Fields, list, number, oneOf, optional, stricter } from "../../schema/index.ts";
import type { TaskPart } from "../entry.ts";
import { edges, event, eventOf, eventsPerTick, hasNoise, named, ONE_DAY } from "../metric-fields.ts";
import { roomOf } from "../room.ts";
import {
  type CountedHistogramMetric,
  checkHistogram,
  type HistogramMetric,
  MECHANISMS,
  QUANTILES,
  requireHistogramEpsilon,
} from "./histogram.ts";

const MOST_QUANTILES = 99;

/** Which numbers are quantiles `checkQuantiles` says. */
const quantiles = described(
  optional(
    stricter(list("numbers", number, 1, MOST_QUANTILES), {
      items: { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 1 },
    }),
  ),
  `which quantiles a release has, in order; ${QUANTILES.join(" and ")} if absent`,
) as Field<readonly number[]>;

const HISTOGRAM: Fields<Omit<HistogramMetric, "noise">> = {
  ...named,
  event,
  statistic: oneOf("histogram"),
  edges,
  localEpsilon: number,
  eventsPerTick,
  mechanism: optional(oneOf(...MECHANISMS)),
  quantiles,
};

const COUNTED: Fields<CountedHistogramMetric> = {
  ...named,
  event,
  statistic: oneOf("histogram"),
  noise: oneOf("servers"),
  edges,
  sigma: number,
  eventsPerTick,
  quantiles,
};

/** Refuses quantiles that cannot be, with a `RangeError`. */
function checkQuantiles(asked: readonly number[] = QUANTILES): void {
  if (asked.every((q, i) => q > (asked[i - 1] ?? 0) && q < 1)) return;
  throw new RangeError(`quantiles are numbers above 0 and below 1 that increase, not [${asked.join(", ")}]`);
}

/** How histogram metrics are written in a task. */
export const histogramInTasks: TaskPart<"histogram"> = {
  forms: [
    { what: "a histogram metric", fields: HISTOGRAM },
    { what: "a metric with noise of the servers", isFor: hasNoise, fields: COUNTED },
  ],
  check: (metric, { ticks, isLimited }) => {
    const { edges: begins, eventsPerTick: most } = metric;
    checkHistogram({ edges: begins, eventsPerTick: most, ticks });
    checkQuantiles(metric.quantiles);
    if (isLimited) roomOf({ eventsPerTick: most, ticks });
    if (metric.noise) createDiscreteGaussian(metric.sigma);
    else requireHistogramEpsilon(metric.localEpsilon, metric.mechanism);
  },
  events: eventOf,
  example: {
    ...ONE_DAY,
    metric: { name: "export.clicks", statistic: "histogram", edges: [0, 1, 2, 5], localEpsilon: 1 },
  },
  questionOf: (metric, delta) => {
    const { edges: begins } = metric;
    if (metric.noise) return { goal: { sigma: metric.sigma, delta }, edges: begins };
    const { localEpsilon, mechanism } = metric;
    return { goal: { localEpsilon, delta }, edges: begins, ...(mechanism && { mechanism }) };
  },
};
