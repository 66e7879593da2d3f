import { planRotationHistogram, rotationHistogramDevice } from "../statistic/histogram/rotation.ts";
import { planRotationMean, rotationMeanDevice } from "../statistic/mean/rotation.ts";
import type { StatisticOn, StatisticSpec } from "../statistic/spec.ts";
import type { DeviceSide } from "../statistic/statistic.ts";
import type { StatisticTypes } from "../statistic/table.ts";
import { halfOf } from "./halves.ts";

/** The lattice statistics that count by rotation: all but the one that every device has. */
type Rotating = Exclude<StatisticOn<"lattice">, "occurrence">;

const DEVICES: { readonly [Name in Rotating]: (spec: StatisticTypes[Name]["oneServer"]) => DeviceSide } = {
  histogram: (spec) => rotationHistogramDevice(planRotationHistogram(spec)),
  mean: (spec) => rotationMeanDevice(planRotationMean(spec)),
};

/** The device's half of the lattice statistics that count by rotation; a `RangeError` for any other. */
export function rotationDevice(spec: StatisticSpec): DeviceSide {
  return halfOf(DEVICES, spec, "on lattice");
}
