import { twoServerHistogramDevice } from "../statistic/histogram/two-server.ts";
import { twoServerMeanDevice } from "../statistic/mean/two-server.ts";
import { twoServerOccurrenceDevice } from "../statistic/occurrence/two-server.ts";
import type { TwoServerSpec, TwoServerStatisticName } from "../statistic/spec.ts";
import type { StatisticTypes } from "../statistic/table.ts";
import type { DeviceInContext } from "../statistic/two-server.ts";
import { halfOf } from "./halves.ts";

const DEVICES: {
  readonly [Name in TwoServerStatisticName]: (spec: StatisticTypes[Name]["twoServers"]) => DeviceInContext;
} = {
  occurrence: twoServerOccurrenceDevice,
  histogram: twoServerHistogramDevice,
  mean: twoServerMeanDevice,
};

/** The device's half of every statistic that runs with two servers; a `RangeError` for any other. */
export function createTwoServerDevice(spec: TwoServerSpec): DeviceInContext {
  return halfOf(DEVICES, spec, "with two servers");
}
