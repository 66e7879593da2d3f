import type { CountSpec } from "../statistic/room.ts";
import type { StatisticSpec } from "../statistic/spec.ts";
import type { WritesSpec } from "../statistic/writes.ts";

/** Who adds the noise: each device to its own answer, or each of the two servers to its share of the sum. */
export type NoiseSource = "device" | "servers";

/** A statistic whose devices answer truly; each server adds discrete Gaussian noise to its share of the sum, enough by itself. */
export type ServerNoiseSpec =
  | (WritesSpec & {
      readonly statistic: "occurrence";
      readonly noise: "servers";
      /** The standard deviation of a server's noise, one for every metric, in devices. */
      readonly sigmas: readonly number[];
    })
  | (CountSpec & {
      readonly statistic: "histogram";
      readonly noise: "servers";
      readonly edges: readonly number[];
      /** The standard deviation of a server's noise in every bucket, in devices. */
      readonly sigma: number;
    })
  | (CountSpec & {
      readonly statistic: "mean";
      readonly noise: "servers";
      readonly limit: number;
      /** The standard deviation of a server's noise in the sum, in units of the limit. */
      readonly sigma: number;
    });

/** What two servers can count. A mean's noise is always the servers'. */
export type TwoServerSpec =
  | (Exclude<StatisticSpec, { readonly statistic: "mean" }> & { readonly noise: "device" })
  | ServerNoiseSpec;
