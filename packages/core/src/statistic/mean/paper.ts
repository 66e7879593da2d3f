import type { DeviceScheme } from "../../encryption/rerandomizable.ts";
import { type DiscreteGaussian, drawDiscreteGaussian } from "../../privacy/discrete-gaussian.ts";
import {
  type Adding,
  type CounterScheme,
  type PaperAlgorithm,
  paperDevice,
  paperServer,
} from "../paper/ciphertext-vector.ts";
import type { DeviceSide, ServerSide } from "../statistic.ts";
import { checkMean, clampedAnswer, drawOnNoEvent, type MeanSpec, meanEstimates, meanNoise } from "./mean.ts";

/**
 * Alg. 4, with two changes (docs/errata.md, 2): the sum is Σ_{j=1..k} d_j = min(count, k), for which only the d_j ("at
 * least j") are kept, and the noise has variance k²σ².
 */
function algorithm<C>(scheme: Adding<C>, spec: MeanSpec, noise: DiscreteGaussian): PaperAlgorithm<C> {
  const { limit } = spec;
  return {
    saturation: limit,
    metrics: 1,
    stateLength: limit,
    reportLength: 1,
    keys: 1,
    initialize: ({ encrypt }) => Array.from({ length: limit }, (_, i) => encrypt(0, i)),
    update: (atLeast, _metric, { encrypt }) => [encrypt(1, 0), ...atLeast.slice(0, -1)],
    sendToServer: (atLeast, { encrypt }, random) => [
      [...atLeast, encrypt(Number(drawDiscreteGaussian(noise, random)), 0)].reduce(scheme.add), // l. 5–7
    ],
  };
}

/** The device's half, on any scheme that adds. */
export function paperMeanDevice<P, C>(scheme: DeviceScheme<P, C> & Adding<C>, spec: MeanSpec): DeviceSide {
  checkMean(spec);
  return paperDevice(scheme, spec, algorithm(scheme, spec, meanNoise(spec)));
}

/** The scheme must decrypt every integer from −reach to limit + reach of the noise. */
export function paperMeanServer<P, S, C>(scheme: CounterScheme<P, S, C>, spec: MeanSpec): ServerSide {
  checkMean(spec);
  const noise = meanNoise(spec);
  return {
    ...paperServer(
      scheme,
      { reportLength: 1, keys: 1 },
      {
        read: (sums) => sums.map((sum) => clampedAnswer(spec, noise, sum)),
        onNoEvent: (random) => [drawOnNoEvent(spec, noise, random)],
      },
    ),
    ...meanEstimates(spec),
  };
}
