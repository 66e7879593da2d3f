import type { StatisticSpec } from "../spec.ts";
import type { DeviceSide } from "../statistic.ts";
import { planRotationHistogram, rotationHistogramDevice } from "./rotation-histogram.ts";
import { planRotationMean, rotationMeanDevice } from "./rotation-mean.ts";

/** The device's half of the lattice statistics that count by rotation. */
export function rotationDevice(spec: Exclude<StatisticSpec, { statistic: "occurrence" }>): DeviceSide {
  return spec.statistic === "histogram"
    ? rotationHistogramDevice(planRotationHistogram(spec))
    : rotationMeanDevice(planRotationMean(spec));
}
