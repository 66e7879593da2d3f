import { clampTo, normalEstimate, projectToHistogram } from "../estimate/index.ts";
import { serverNoise, serverNoiseEpsilon } from "../privacy/accounting/server-noise.ts";
import { type DiscreteGaussian, discreteGaussianVariance } from "../privacy/discrete-gaussian.ts";
import type { ServerNoiseSpec } from "../two-server/spec.ts";
import { MEAN_DELTA } from "./mean/mean.ts";
import type { ServerEstimates } from "./statistic.ts";

/** What each server adds to its share of each answer's sum. */
export function serverNoiseOf(spec: ServerNoiseSpec): DiscreteGaussian[] {
  return sigmasOf(spec).map((sigma) => serverNoise(spec, sigma));
}

/** One for every answer. */
function sigmasOf(spec: ServerNoiseSpec): readonly number[] {
  if (spec.statistic === "occurrence") return spec.sigmas;
  return spec.statistic === "histogram" ? spec.edges.map(() => spec.sigma) : [spec.sigma];
}

const SERVERS = 2;

/** Both servers' noise is in a sum, whatever the number of devices. */
export function serverNoiseEstimates(spec: ServerNoiseSpec): ServerEstimates {
  const noise = serverNoiseOf(spec);
  const errors = noise.map((each) => Math.sqrt(SERVERS * discreteGaussianVariance(each)));
  return {
    /** Of what a server knows that subtracts its own noise from the release. */
    localEpsilon: () => noise.reduce((most, each) => Math.max(most, serverNoiseEpsilon(spec, each, MEAN_DELTA)), 0),
    mechanism: "discrete-gaussian",
    estimate: (sums, devices) => {
      const shares = spec.statistic === "mean" ? devices : 1;
      return sums.map((sum, i) => normalEstimate(sum / shares, (errors[i] as number) / shares));
    },
    consistent: (estimates, devices) => {
      if (spec.statistic === "histogram") return projectToHistogram(estimates, devices);
      const most = spec.statistic === "mean" ? spec.limit : devices;
      return estimates.map((estimate) => clampTo(most, estimate));
    },
  };
}
