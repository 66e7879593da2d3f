import { planRotationHistogram, rotationHistogramDevice } from "../statistic/histogram/rotation.ts";
import { planRotationMean, rotationMeanDevice } from "../statistic/mean/rotation.ts";
import type { StatisticName, StatisticSpec, StatisticTypes } from "../statistic/spec.ts";
import type { DeviceSide } from "../statistic/statistic.ts";

/** The statistics that count by rotation: all but the one that every device has. */
type Rotating = Exclude<StatisticName, "occurrence">;

const DEVICES: { readonly [Name in Rotating]: (spec: StatisticTypes[Name]["oneServer"]) => DeviceSide } = {
  histogram: (spec) => rotationHistogramDevice(planRotationHistogram(spec)),
  mean: (spec) => rotationMeanDevice(planRotationMean(spec)),
};

/** The device's half of the lattice statistics that count by rotation. */
export function rotationDevice(spec: Extract<StatisticSpec, { readonly statistic: Rotating }>): DeviceSide {
  return (DEVICES[spec.statistic] as (spec: StatisticSpec) => DeviceSide)(spec);
}
