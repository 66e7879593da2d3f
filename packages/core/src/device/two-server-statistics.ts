import { twoServerHistogramDevice } from "../statistic/histogram/two-server.ts";
import { twoServerMeanDevice } from "../statistic/mean/two-server.ts";
import { twoServerOccurrenceDevice } from "../statistic/occurrence/two-server.ts";
import type { DeviceInContext } from "../statistic/two-server.ts";
import type { TwoServerSpec } from "../two-server/spec.ts";

/** The device's half of `createTwoServerStatistic`, without any of the servers'. */
export function createTwoServerDevice(spec: TwoServerSpec): DeviceInContext {
  if (spec.statistic === "occurrence") return twoServerOccurrenceDevice(spec);
  if (spec.statistic === "histogram") return twoServerHistogramDevice(spec);
  return twoServerMeanDevice(spec);
}
