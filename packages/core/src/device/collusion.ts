import { splitSharedSlots } from "../sharing/shared-slot.ts";
import { collusionDevice } from "../statistic/collusion/device.ts";
import { isAgainstCollusion } from "../statistic/collusion/names.ts";
import type { KeptKind } from "./on-demand.ts";

/**
 * The device's half of the statistics that run against an intruder who has the keys of one server; a `RangeError` for
 * any other. Their slots do not depend on the context.
 */
export const collusionKind: KeptKind = {
  create: (spec) => {
    if (!isAgainstCollusion(spec)) throw new RangeError("collusion is one-server for this task");
    const device = collusionDevice(spec);
    return () => device;
  },
  split: splitSharedSlots,
};
