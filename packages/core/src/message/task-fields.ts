import {
  type Fields,
  list,
  name,
  number,
  oneOf,
  optional,
  type Read,
  readFields,
  refuse,
  refuseUnknown,
  requireObject,
  whole,
} from "../schema/field.ts";
import type { SchemeName } from "../statistic/spec.ts";
import { MOST_TICKS } from "../statistic/writes.ts";
import type {
  CountedHistogramMetric,
  CountedOccurrenceMetric,
  HistogramMetric,
  MeanMetric,
  Metric,
  OccurrenceMetric,
  Task,
} from "./task.ts";

const DAY = 86_400;

const share: Read<number> = (path, value) => {
  const found = number(path, value);
  return found >= 0 && found < 1 ? found : refuse(path, "is a share from 0 to below 1", value);
};

const scheme: Read<SchemeName | undefined> = optional(oneOf("lattice", "elgamal"), undefined);

const OCCURRENCE: Fields<Omit<OccurrenceMetric, "noise">> = {
  name,
  scheme,
  statistic: oneOf("occurrence"),
  localEpsilon: number,
};

const HISTOGRAM: Fields<Omit<HistogramMetric, "noise">> = {
  name,
  scheme,
  statistic: oneOf("histogram"),
  edges: list("numbers", number, 0, Number.POSITIVE_INFINITY),
  localEpsilon: number,
  eventsPerTick: optional(whole(1, MOST_TICKS), undefined),
  mechanism: optional(oneOf("kary", "unary", "per-bucket"), undefined),
};

const MEAN: Fields<Omit<MeanMetric, "noise">> = {
  name,
  scheme,
  statistic: oneOf("mean"),
  limit: number,
  sigma: number,
  eventsPerTick: optional(whole(1, MOST_TICKS), undefined),
};

const COUNTED_OCCURRENCE: Fields<CountedOccurrenceMetric> = {
  name,
  scheme,
  statistic: oneOf("occurrence"),
  noise: oneOf("servers"),
  sigma: number,
};

const COUNTED_HISTOGRAM: Fields<CountedHistogramMetric> = {
  name,
  scheme,
  statistic: oneOf("histogram"),
  noise: oneOf("servers"),
  edges: list("numbers", number, 0, Number.POSITIVE_INFINITY),
  sigma: number,
  eventsPerTick: optional(whole(1, MOST_TICKS), undefined),
};

const readMetric: Read<Metric> = (path, value) => {
  const found = requireObject(path, value);
  // Only the statistic tells which fields there are, so its own name is looked at first.
  if (found.statistic === undefined) refuseUnknown(path, found, "a metric", { ...OCCURRENCE, ...HISTOGRAM, ...MEAN });
  const statistic = oneOf("occurrence", "histogram", "mean")(`${path}.statistic`, found.statistic);
  if (statistic === "mean") return readFields(path, found, "a mean metric", MEAN);
  if (found.noise !== undefined) {
    const what = "a metric with noise of the servers";
    return statistic === "occurrence"
      ? readFields(path, found, what, COUNTED_OCCURRENCE)
      : readFields(path, found, what, COUNTED_HISTOGRAM);
  }
  return statistic === "occurrence"
    ? readFields(path, found, "an occurrence metric", OCCURRENCE)
    : readFields(path, found, "a histogram metric", HISTOGRAM);
};

export const TASK_FIELDS: Fields<Task> = {
  version: whole(1, Number.MAX_SAFE_INTEGER),
  task: name,
  tickSeconds: whole(1, 31 * DAY),
  ticks: whole(1, MOST_TICKS),
  graceSeconds: whole(0, 366 * DAY),
  mode: oneOf("one-server", "two-server"),
  scheme,
  hides: optional(whole(0, MOST_TICKS), undefined),
  minimumDevices: whole(1, 1e9),
  missing: optional(share, undefined),
  metrics: list("metrics", readMetric, 1, 10_000),
};
