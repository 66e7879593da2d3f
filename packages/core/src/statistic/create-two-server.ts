import type { TwoServerSpec } from "./spec.ts";
import { twoServerRunOf } from "./table.ts";
import type { TwoServerStatistic } from "./two-server.ts";

/** A statistic of two servers, or a `RangeError` if it cannot run. */
export function createTwoServerStatistic(spec: TwoServerSpec): TwoServerStatistic {
  const { noise, create } = twoServerRunOf(spec.statistic);
  // Specs may come from a file: a typo must not choose the other noise.
  if (!noise.includes(spec.noise)) {
    throw new RangeError(`noise is device or servers, and servers for a mean, not ${spec.noise as string}`);
  }
  const parts = create(spec);
  return { ...parts, bytes: parts.device(new Uint8Array()).bytes };
}
