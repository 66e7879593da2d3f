import type { TwoServerSpec } from "../two-server/spec.ts";
import { twoServerHistogram } from "./histogram/two-server.ts";
import { twoServerMean } from "./mean/two-server.ts";
import { twoServerOccurrence } from "./occurrence/two-server.ts";
import type { TwoServerParts, TwoServerStatistic } from "./two-server.ts";

export function createTwoServerStatistic(spec: TwoServerSpec): TwoServerStatistic {
  // Specs may come from a file: a typo must not choose the other noise.
  const { noise, statistic } = spec;
  if ((noise !== "device" && noise !== "servers") || (statistic === "mean" && noise !== "servers")) {
    throw new RangeError(`noise is device or servers, and servers for a mean, not ${noise as string}`);
  }
  const parts = partsOf(spec);
  return { ...parts, bytes: parts.device(new Uint8Array()).bytes };
}

function partsOf(spec: TwoServerSpec): TwoServerParts {
  if (spec.statistic === "occurrence") return twoServerOccurrence(spec);
  if (spec.statistic === "histogram") return twoServerHistogram(spec);
  return twoServerMean(spec);
}
