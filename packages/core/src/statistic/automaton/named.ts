import type { HistogramMechanismName } from "../histogram/histogram.ts";
import type { NamedMetric, Types } from "../spec.ts";
import type { WritesSpec } from "../writes.ts";

/** How a device noises its category. */
export interface CategoryNoise {
  readonly localEpsilon: number;
  /** The one with the least error if absent. */
  readonly mechanism?: HistogramMechanismName;
}

/** The types of a statistic that is an automaton with categories, described by `Settings`. */
export interface NamedTypes<Name extends string, Settings extends object> extends Types {
  readonly metric: NamedMetric & { readonly statistic: Name; readonly noise?: never } & Settings & CategoryNoise;
  readonly schemes: "elgamal";
  readonly oneServer: { readonly statistic: Name } & WritesSpec & Settings & CategoryNoise;
  readonly twoServers: never;
  readonly shape: { readonly [Field in keyof Settings]?: Settings[Field] | undefined } & { readonly ticks?: number };
  readonly output: "categories";
}
