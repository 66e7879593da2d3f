import { twoServerHistogramDevice } from "./histogram.ts";
import { twoServerMeanDevice } from "./mean.ts";
import { twoServerOccurrenceDevice } from "./occurrence.ts";
import type { TwoServerSpec } from "./spec.ts";
import type { DeviceInContext } from "./statistic.ts";

/** The device's half of `createTwoServerStatistic`, without any of the servers'. */
export function createTwoServerDevice(spec: TwoServerSpec): DeviceInContext {
  if (spec.statistic === "occurrence") return twoServerOccurrenceDevice(spec);
  if (spec.statistic === "histogram") return twoServerHistogramDevice(spec);
  return twoServerMeanDevice(spec);
}
