import { createElGamalCounter, type ElGamalCounter } from "../../encryption/elgamal/elgamal.ts";
import { checkMean, meanNoise } from "../mean.ts";
import type { StatisticSpec } from "../spec.ts";
import type { DeviceSide } from "../statistic.ts";
import { paperHistogramDevice } from "./histogram.ts";
import { paperMeanDevice } from "./mean.ts";
import { paperOccurrenceDevice } from "./occurrence.ts";

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
