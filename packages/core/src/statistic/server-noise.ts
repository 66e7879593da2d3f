import { normalEstimate } from "../estimate/index.ts";
import { type Exposure, serverNoise, serverNoiseEpsilon } from "../privacy/accounting/server-noise.ts";
import { discreteGaussianVariance } from "../privacy/discrete-gaussian.ts";
import { MEAN_DELTA, type ServerEstimates } from "./statistic.ts";
import type { TwoServerParts } from "./two-server.ts";

/** What devices answer truly, and how it is noised. */
interface TrueAnswers {
  /** Of one server's noise, for every answer. */
  readonly sigmas: readonly number[];
  readonly exposure: Exposure;
  /** Whether figures are averages, of which each device has its share, and not sums. */
  readonly isAverage?: boolean;
  readonly consistent: ServerEstimates["consistent"];
}

/** How many add noise. */
export const SERVERS = 2;

/**
 * What each server adds, and what is estimated from sums with the noise of both in them. The error does not depend on
 * the number of devices.
 */
export function serverNoised({
  sigmas,
  exposure,
  isAverage = false,
  consistent,
}: TrueAnswers): ServerEstimates & Required<Pick<TwoServerParts, "serverNoise">> {
  const noise = sigmas.map((sigma) => serverNoise(exposure, sigma));
  const errors = noise.map((each) => Math.sqrt(SERVERS * discreteGaussianVariance(each)));
  return {
    serverNoise: noise,
    /** Of what a server knows that subtracts its own noise from the release. */
    localEpsilon: (delta = MEAN_DELTA) =>
      noise.reduce((most, each) => Math.max(most, serverNoiseEpsilon(exposure, each, delta)), 0),
    mechanism: "discrete-gaussian",
    estimate: (sums, devices, parts = 1) => {
      const shares = isAverage ? devices : 1;
      // Each part has its own noise, and variances add up.
      return sums.map((sum, i) => normalEstimate(sum / shares, (Math.sqrt(parts) * (errors[i] as number)) / shares));
    },
    consistent,
  };
}
