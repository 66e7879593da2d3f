import { createElGamalCounter, type ElGamalCounter } from "../encryption/elgamal/elgamal.ts";
import { paperHistogramDevice } from "../statistic/histogram/paper.ts";
import { checkMean, meanNoise } from "../statistic/mean/mean.ts";
import { paperMeanDevice } from "../statistic/mean/paper.ts";
import { paperOccurrenceDevice } from "../statistic/occurrence/paper.ts";
import type { StatisticSpec } from "../statistic/spec.ts";
import type { DeviceSide } from "../statistic/statistic.ts";

/** ElGamal with the range in which an honest answer lies. */
export function elgamalFor(spec: StatisticSpec): ElGamalCounter {
  if (spec.statistic !== "mean") return createElGamalCounter({ minimum: 0, maximum: 1 });
  checkMean(spec);
  const { reach } = meanNoise(spec);
  return createElGamalCounter({ minimum: -reach, maximum: spec.limit + reach });
}

export function elgamalDevice(spec: StatisticSpec): DeviceSide {
  const scheme = elgamalFor(spec);
  if (spec.statistic === "occurrence") return paperOccurrenceDevice(scheme, spec);
  if (spec.statistic === "histogram") return paperHistogramDevice(scheme, spec);
  return paperMeanDevice(scheme, spec);
}
