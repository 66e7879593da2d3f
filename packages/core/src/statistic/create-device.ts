import { ledgerDevice, planLedger } from "./lattice/ledger.ts";
import { planRotationHistogram, rotationHistogramDevice } from "./lattice/rotation-histogram.ts";
import { planRotationMean, rotationMeanDevice } from "./lattice/rotation-mean.ts";
import type { SchemeName, StatisticSpec } from "./spec.ts";
import type { DeviceSide } from "./statistic.ts";

/**
 * The device's half of `createStatistic`, without any of the server's. ElGamal, whose curve is larger than all the rest
 * together, is loaded only for tasks that ask for it.
 */
export async function createDevice(scheme: SchemeName, spec: StatisticSpec): Promise<DeviceSide> {
  if (scheme === "lattice") return latticeDevice(spec);
  const { elgamalDevice } = await import("./paper/elgamal.ts");
  return elgamalDevice(spec);
}

function latticeDevice(spec: StatisticSpec): DeviceSide {
  if (spec.statistic === "occurrence") return ledgerDevice(planLedger(spec));
  if (spec.statistic === "histogram") return rotationHistogramDevice(planRotationHistogram(spec));
  return rotationMeanDevice(planRotationMean(spec));
}
