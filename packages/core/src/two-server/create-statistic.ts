import { twoServerHistogram } from "./histogram.ts";
import { twoServerMean } from "./mean.ts";
import { twoServerOccurrence } from "./occurrence.ts";
import type { TwoServerSpec } from "./spec.ts";
import type { TwoServerParts, TwoServerStatistic } from "./statistic.ts";

export function createTwoServerStatistic(spec: TwoServerSpec): TwoServerStatistic {
  const parts = partsOf(spec);
  return { ...parts, bytes: parts.device(new Uint8Array()).bytes };
}

function partsOf(spec: TwoServerSpec): TwoServerParts {
  if (spec.statistic === "occurrence") return twoServerOccurrence(spec);
  if (spec.statistic === "histogram") return twoServerHistogram(spec);
  return twoServerMean(spec);
}
