import type { HistogramTypes } from "./histogram/histogram.ts";
import type { MeanTypes } from "./mean/mean.ts";
import type { OccurrenceTypes } from "./occurrence/occurrence.ts";

/** What a state on a device is encrypted with. */
export type SchemeName = "lattice" | "elgamal";

/** Who adds the noise: each device to its own answer, or each of the two servers to its share of the sum. */
export type NoiseSource = "device" | "servers";

/** What all metrics of a task have. */
export interface NamedMetric {
  readonly name: string;
  /** If absent the task's, else that of the statistic. */
  readonly scheme?: SchemeName | undefined;
}

/**
 * The types of every statistic, by its name: of its `metric` in a task, of what a device runs for it with `oneServer`
 * and with `twoServers`, of the `shape` that its answers depend on, and of its `output` (`Output` of `entry.ts`). The
 * unions below follow from this list.
 */
export interface StatisticTypes {
  readonly occurrence: OccurrenceTypes;
  readonly histogram: HistogramTypes;
  readonly mean: MeanTypes;
}

/** The name of a statistic, as a task states it. */
export type StatisticName = keyof StatisticTypes;

/** A question to the devices of a fleet, as a task states it. */
export type Metric = StatisticTypes[StatisticName]["metric"];

/** What a device runs for a task of one server. */
export type StatisticSpec = StatisticTypes[StatisticName]["oneServer"];

/** What a device runs for a task of two servers. */
export type TwoServerSpec = StatisticTypes[StatisticName]["twoServers"];

/**
 * A statistic whose devices answer truly. Each server adds discrete Gaussian noise to its share of the sum, enough by
 * itself.
 */
export type ServerNoiseSpec = Extract<TwoServerSpec, { readonly noise: "servers" }>;
