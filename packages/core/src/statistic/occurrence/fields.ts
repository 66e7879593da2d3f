import { createDiscreteGaussian } from "../../privacy/discrete-gaussian.ts";
import { requireEpsilon } from "../../privacy/epsilon.ts";
import { type Fields, number, oneOf } from "../../schema/index.ts";
import type { TaskPart } from "../entry.ts";
import { event, eventOf, hasNoise, named, ONE_DAY } from "../metric-fields.ts";
import type { CountedOccurrenceMetric, OccurrenceMetric } from "./occurrence.ts";

const OCCURRENCE: Fields<Omit<OccurrenceMetric, "noise">> = {
  ...named,
  event,
  statistic: oneOf("occurrence"),
  localEpsilon: number,
};

const COUNTED: Fields<CountedOccurrenceMetric> = {
  ...named,
  event,
  statistic: oneOf("occurrence"),
  noise: oneOf("servers"),
  sigma: number,
};

/** How occurrence metrics are written in a task. */
export const occurrenceInTasks: TaskPart<"occurrence"> = {
  forms: [
    { what: "an occurrence metric", fields: OCCURRENCE },
    { what: "a metric with noise of the servers", isFor: hasNoise, fields: COUNTED },
  ],
  check: (metric) => {
    if (metric.noise) createDiscreteGaussian(metric.sigma);
    else requireEpsilon(metric.localEpsilon);
  },
  events: eventOf,
  example: { ...ONE_DAY, metric: { name: "export.failed", statistic: "occurrence", localEpsilon: 1 } },
  questionOf: (metric, delta) => ({
    goal: metric.noise ? { sigma: metric.sigma, delta } : { localEpsilon: metric.localEpsilon, delta },
  }),
};
