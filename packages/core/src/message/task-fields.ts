import { MOST_TICKS } from "../statistic/statistic.ts";
import {
  type Fields,
  list,
  name,
  number,
  oneOf,
  optional,
  type Read,
  readFields,
  refuseUnknown,
  requireObject,
  whole,
} from "./fields.ts";
import type { HistogramMetric, MeanMetric, Metric, OccurrenceMetric, Task } from "./task.ts";

const DAY = 86_400;

const OCCURRENCE: Fields<OccurrenceMetric> = {
  name,
  statistic: oneOf("occurrence"),
  localEpsilon: number,
};

const HISTOGRAM: Fields<HistogramMetric> = {
  name,
  statistic: oneOf("histogram"),
  edges: list("numbers", number, 0, Number.POSITIVE_INFINITY),
  localEpsilon: number,
  eventsPerTick: optional(number, 1),
  mechanism: optional(oneOf("kary", "unary", "per-bucket"), undefined),
};

const MEAN: Fields<MeanMetric> = {
  name,
  statistic: oneOf("mean"),
  limit: number,
  sigma: number,
  eventsPerTick: optional(number, 1),
};

const readMetric: Read<Metric> = (path, value) => {
  const found = requireObject(path, value);
  // Only the statistic tells which fields there are, so its own name is looked at first.
  if (found.statistic === undefined) refuseUnknown(path, found, "a metric", { ...OCCURRENCE, ...HISTOGRAM, ...MEAN });
  const statistic = oneOf("occurrence", "histogram", "mean")(`${path}.statistic`, found.statistic);
  if (statistic === "occurrence") return readFields(path, found, "an occurrence metric", OCCURRENCE);
  if (statistic === "histogram") return readFields(path, found, "a histogram metric", HISTOGRAM);
  return readFields(path, found, "a mean metric", MEAN);
};

const mode: Read<"one-server"> = (path, value) => {
  if (value === "two-server") throw new RangeError(`${path} is one-server; two-server is not supported yet`);
  return oneOf("one-server")(path, value);
};

export const TASK_FIELDS: Fields<Task> = {
  version: whole(1, Number.MAX_SAFE_INTEGER),
  task: name,
  tickSeconds: whole(1, 31 * DAY),
  ticks: whole(1, MOST_TICKS),
  graceSeconds: whole(0, 366 * DAY),
  mode,
  scheme: oneOf("lattice", "elgamal"),
  minimumDevices: whole(1, 1e9),
  metrics: list("metrics", readMetric, 1, 10_000),
};
