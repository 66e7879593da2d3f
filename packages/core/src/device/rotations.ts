import { planRotationHistogram, rotationHistogramDevice } from "../statistic/histogram/rotation.ts";
import { planRotationMean, rotationMeanDevice } from "../statistic/mean/rotation.ts";
import type { StatisticSpec } from "../statistic/spec.ts";
import type { DeviceSide } from "../statistic/statistic.ts";

/** The device's half of the lattice statistics that count by rotation. */
export function rotationDevice(spec: Exclude<StatisticSpec, { statistic: "occurrence" }>): DeviceSide {
  return spec.statistic === "histogram"
    ? rotationHistogramDevice(planRotationHistogram(spec))
    : rotationMeanDevice(planRotationMean(spec));
}
