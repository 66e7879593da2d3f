import { twoServerHistogramDevice } from "../statistic/histogram/two-server.ts";
import { twoServerMeanDevice } from "../statistic/mean/two-server.ts";
import { twoServerOccurrenceDevice } from "../statistic/occurrence/two-server.ts";
import type { StatisticName, StatisticTypes, TwoServerSpec } from "../statistic/spec.ts";
import type { DeviceInContext } from "../statistic/two-server.ts";

const DEVICES: { readonly [Name in StatisticName]: (spec: StatisticTypes[Name]["twoServers"]) => DeviceInContext } = {
  occurrence: twoServerOccurrenceDevice,
  histogram: twoServerHistogramDevice,
  mean: twoServerMeanDevice,
};

/** The device's half of every statistic of two servers. */
export function createTwoServerDevice(spec: TwoServerSpec): DeviceInContext {
  return (DEVICES[spec.statistic] as (spec: TwoServerSpec) => DeviceInContext)(spec);
}
