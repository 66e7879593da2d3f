import { elgamalHistogramDevice } from "../statistic/histogram/elgamal.ts";
import { elgamalMeanDevice } from "../statistic/mean/elgamal.ts";
import { elgamalOccurrenceDevice } from "../statistic/occurrence/elgamal.ts";
import type { StatisticName, StatisticSpec, StatisticTypes } from "../statistic/spec.ts";
import type { DeviceSide } from "../statistic/statistic.ts";

const DEVICES: { readonly [Name in StatisticName]: (spec: StatisticTypes[Name]["oneServer"]) => DeviceSide } = {
  occurrence: elgamalOccurrenceDevice,
  histogram: elgamalHistogramDevice,
  mean: elgamalMeanDevice,
};

/** The device's half of every statistic on ElGamal. */
export function elgamalDevice(spec: StatisticSpec): DeviceSide {
  return (DEVICES[spec.statistic] as (spec: StatisticSpec) => DeviceSide)(spec);
}
