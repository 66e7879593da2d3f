import type { StatisticTypes } from "./table.ts";

/** What a state on a device is encrypted with. */
export type SchemeName = "lattice" | "elgamal";

/** Who adds the noise: each device to its own answer, or each of the two servers to its share of the sum. */
export type NoiseSource = "device" | "servers";

/**
 * Against whom the states of devices hold in a task of two servers: the intruder alone, or also one who has the keys of
 * one of the servers.
 */
export type Collusion = "none" | "one-server";

/** What all metrics of a task have. */
export interface NamedMetric {
  readonly name: string;
  /** If absent the task's, else that of the statistic. */
  readonly scheme?: SchemeName | undefined;
  /** The name of the event that it counts, if it counts one and that is not its own name. */
  readonly event?: string | undefined;
}

/** What a statistic states about its types. `StatisticTypes` of `table.ts` has those of all; the unions below follow. */
export interface Types {
  /** A metric in a task. */
  readonly metric: NamedMetric;
  /** The schemes on which it runs with one server. */
  readonly schemes: SchemeName;
  /** What a device runs with one server. */
  readonly oneServer: object;
  /** What a device runs with two servers; `never` if it runs with one server only. */
  readonly twoServers: object;
  /** What its answers depend on; its fields are optional, because plans have those of all statistics side by side. */
  readonly shape: object;
  /** `Output` of `entry.ts`. */
  readonly output: string;
}

/** The name of a statistic, as a task states it. */
export type StatisticName = keyof StatisticTypes;

/** The names of the statistics that run on a scheme with one server. */
export type StatisticOn<Scheme extends SchemeName> = {
  [Name in StatisticName]: Scheme extends StatisticTypes[Name]["schemes"] ? Name : never;
}[StatisticName];

/** The names of the statistics that run with two servers. */
export type TwoServerStatisticName = StatisticTypes[StatisticName]["twoServers"]["statistic"];

/** A question to the devices of a fleet, as a task states it. */
export type Metric = StatisticTypes[StatisticName]["metric"];

/** The fields of the shapes of all statistics, each of them optional: every statistic reads its own. */
export type AnyShape = Intersection<StatisticTypes[StatisticName]["shape"]>;

type Intersection<Union> = (Union extends unknown ? (each: Union) => void : never) extends (all: infer All) => void
  ? All
  : never;

/** What a device runs for a task of one server. */
export type StatisticSpec = StatisticTypes[StatisticName]["oneServer"];

/** What a device runs for a task of two servers. */
export type TwoServerSpec = StatisticTypes[StatisticName]["twoServers"] | CollusionSpec;

/** The statistics that run with two servers against an intruder who has the keys of one of them. */
export type CollusionStatisticName = "occurrence" | "histogram" | "choice" | "funnel";

/** What a device runs for them: each adds noise to its own answer. */
export type CollusionSpec = {
  [Name in CollusionStatisticName]: StatisticTypes[Name]["oneServer"] & {
    readonly noise: "device";
    readonly collusion: "one-server";
  };
}[CollusionStatisticName];

/**
 * A statistic whose devices answer truly. Each server adds discrete Gaussian noise to its share of the sum, enough by
 * itself.
 */
export type ServerNoiseSpec = Extract<TwoServerSpec, { readonly noise: "servers" }>;
