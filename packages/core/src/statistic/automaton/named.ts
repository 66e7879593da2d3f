import type { NamedMetric, Types } from "../spec.ts";
import type { WritesSpec } from "../writes.ts";
import type { CategoryNoise } from "./device.ts";

/** The types of a statistic that is an automaton with categories, described by `Settings`. */
export interface NamedTypes<Name extends string, Settings extends object> extends Types {
  readonly metric: NamedMetric & { readonly statistic: Name; readonly noise?: never } & Settings & CategoryNoise;
  readonly schemes: "elgamal";
  readonly oneServer: { readonly statistic: Name } & WritesSpec & Settings & CategoryNoise;
  readonly twoServers: never;
  readonly shape: { readonly [Field in keyof Settings]?: Settings[Field] | undefined } & { readonly ticks?: number };
  readonly output: "categories";
}
