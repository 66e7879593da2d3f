export { createStatistic, type Statistic } from "./create.ts";
export { bucketName, bucketOf, type HistogramMechanismName, type HistogramSpec } from "./histogram/histogram.ts";
export { type Canary, createCanary } from "./lattice/canary.ts";
export { MEAN_DELTA, type MeanSpec } from "./mean/mean.ts";
export type { OccurrenceSpec } from "./occurrence/occurrence.ts";
export type { Recorder } from "./recorder.ts";
export type { SchemeName, StatisticSpec } from "./spec.ts";
export type { DeviceSide, OpenedReport, ServerSide, StatisticBytes } from "./statistic.ts";
export { DEFAULT_HIDES, MOST_TICKS } from "./writes.ts";
