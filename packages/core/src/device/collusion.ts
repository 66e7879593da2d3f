import { splitSharedSlots } from "../sharing/shared-slot.ts";
import { collusionDevice } from "../statistic/collusion/device.ts";
import { isAgainstCollusion } from "../statistic/collusion/names.ts";
import type { CollusionSpec } from "../statistic/spec.ts";
import type { DeviceSide } from "../statistic/statistic.ts";
import type { KeptKind } from "./on-demand.ts";

/**
 * The device's half of the statistics that run against an intruder who has the keys of one server; a `RangeError` for
 * any other. Their slots do not depend on the context.
 */
export const collusionKind: KeptKind = {
  create: (spec) => {
    if (!isAgainstCollusion(spec)) throw new RangeError("collusion is one-server for this task");
    const device = compiled(spec);
    return () => device;
  },
  split: splitSharedSlots,
};

/** Only a service checks the form of settings: of those that an operator signed without one, the device says the same. */
function compiled(spec: CollusionSpec): DeviceSide {
  try {
    return collusionDevice(spec);
  } catch (error) {
    throw error instanceof TypeError ? new RangeError(`this ${spec.statistic} metric cannot be run`) : error;
  }
}
