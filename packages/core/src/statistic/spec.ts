import type { HistogramSpec } from "./histogram.ts";
import type { MeanSpec } from "./mean.ts";
import type { OccurrenceSpec } from "./occurrence.ts";

export type SchemeName = "lattice" | "elgamal";

export type StatisticSpec =
  | ({ readonly statistic: "occurrence" } & OccurrenceSpec)
  | ({ readonly statistic: "histogram" } & HistogramSpec)
  | ({ readonly statistic: "mean" } & MeanSpec);
