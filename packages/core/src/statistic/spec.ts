import type { HistogramSpec } from "./histogram/histogram.ts";
import type { MeanSpec } from "./mean/mean.ts";
import type { OccurrenceSpec } from "./occurrence/occurrence.ts";

export type SchemeName = "lattice" | "elgamal";

export type StatisticSpec =
  | ({ readonly statistic: "occurrence" } & OccurrenceSpec)
  | ({ readonly statistic: "histogram" } & HistogramSpec)
  | ({ readonly statistic: "mean" } & MeanSpec);
