import { elgamalHistogramDevice } from "../statistic/histogram/elgamal.ts";
import { elgamalMeanDevice } from "../statistic/mean/elgamal.ts";
import { elgamalOccurrenceDevice } from "../statistic/occurrence/elgamal.ts";
import type { StatisticOn, StatisticSpec } from "../statistic/spec.ts";
import type { DeviceSide } from "../statistic/statistic.ts";
import type { StatisticTypes } from "../statistic/table.ts";
import { halfOf } from "./halves.ts";

const DEVICES: { readonly [Name in StatisticOn<"elgamal">]: (spec: StatisticTypes[Name]["oneServer"]) => DeviceSide } =
  {
    occurrence: elgamalOccurrenceDevice,
    histogram: elgamalHistogramDevice,
    mean: elgamalMeanDevice,
  };

/** The device's half of every statistic that runs on ElGamal; a `RangeError` for any other. */
export function elgamalDevice(spec: StatisticSpec): DeviceSide {
  return halfOf(DEVICES, spec, "on elgamal");
}
