import { isAgainstCollusion } from "./collusion/names.ts";
import { collusionStatistic } from "./collusion/server.ts";
import type { CollusionSpec, TwoServerSpec } from "./spec.ts";
import { twoServerRunOf } from "./table.ts";
import type { TwoServerParts, TwoServerStatistic } from "./two-server.ts";

/** A statistic of two servers, or a `RangeError` if it cannot run. */
export function createTwoServerStatistic(spec: TwoServerSpec): TwoServerStatistic {
  const parts = isAgainstCollusion(spec) ? collusionStatistic(spec) : proved(spec);
  return { ...parts, bytes: parts.device(new Uint8Array()).bytes };
}

function proved(spec: Exclude<TwoServerSpec, CollusionSpec>): TwoServerParts {
  const { noise, create } = twoServerRunOf(spec.statistic);
  // Specs may come from a file: a typo must not choose the other noise.
  if (!noise.includes(spec.noise)) {
    throw new RangeError(`noise is device or servers, and servers for a mean, not ${spec.noise as string}`);
  }
  return create(spec);
}
