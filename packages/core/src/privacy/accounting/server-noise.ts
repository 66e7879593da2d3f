import { createDiscreteGaussian, type DiscreteGaussian } from "../discrete-gaussian.ts";
import type { AggregateGuarantee } from "./aggregate.ts";
import type { Charge } from "./composition.ts";
import {
  type GaussianSum,
  gaussianCharge,
  gaussianDelta,
  gaussianEpsilon,
  isSummedExactly,
  sigmaFor,
} from "./gaussian-sum.ts";

/** How much of what the servers add up depends on one device. */
export interface Exposure {
  /** What σ is given in: 1 for devices, or a mean's limit. */
  readonly unit: number;
  /** By how much one device can change a figure, or several figures together. */
  readonly sensitivity: number;
  /** How many of one server's draws hide that change. */
  readonly draws: number;
}

/** Of a count of devices: one figure changes by 1. */
export const COUNT: Exposure = { unit: 1, sensitivity: 1, draws: 1 };

/**
 * Of devices by category: two figures change by 1. As the likelihood ratio depends on the sum of the two draws only,
 * they are as good as one figure with both draws that changes by 2 (proof: docs/privacy.md).
 */
export const CATEGORIES: Exposure = { unit: 1, sensitivity: 2, draws: 2 };

/** Of a sum to which each device adds at most `limit`. */
export function sumUpTo(limit: number): Exposure {
  return { unit: limit, sensitivity: limit, draws: 1 };
}

/** What devices answered truly, and each of two servers adds noise to, by the name of the statistic. */
export type TrulyAnswered =
  | { readonly statistic: "occurrence" | "histogram" }
  | { readonly statistic: "mean"; readonly limit: number };

/**
 * What one server adds to each figure, by its parameter as it is drawn: a bare number could be σ or σ², in either unit.
 */
type Drawn = Pick<DiscreteGaussian, "sigma2">;

type Counted = Exposure | TrulyAnswered;

const BY_STATISTIC = {
  occurrence: () => COUNT,
  histogram: () => CATEGORIES,
  mean: ({ limit = 1 }: { readonly statistic: string; readonly limit?: number }) => sumUpTo(limit),
} as const;

function exposureOf(counted: Counted): Exposure {
  return "draws" in counted ? counted : BY_STATISTIC[counted.statistic](counted);
}

/** What one server draws for every figure, at this σ in devices or, for a mean, in units of the limit. */
export function serverNoise(counted: Counted, sigma: number): DiscreteGaussian {
  return createDiscreteGaussian(sigma * exposureOf(counted).unit);
}

/** Only the draws of one server hide a device, since the other knows its own and subtracts them. */
function sumOf(counted: Counted, { sigma2 }: Drawn): GaussianSum {
  const { sensitivity, draws } = exposureOf(counted);
  return { sigma2, sensitivity, devices: draws };
}

/** δ(ε) against one of the servers if the other is honest, and so against everybody else; for any number of devices. */
export function serverNoiseDelta(counted: Counted, noise: Drawn, epsilon: number): number {
  return gaussianDelta(sumOf(counted, noise), epsilon);
}

/** The least ε at δ, from above. */
export function serverNoiseEpsilon(counted: Counted, noise: Drawn, delta: number): number {
  return gaussianEpsilon(sumOf(counted, noise), delta);
}

/** Whether these are the least, or only bounds because the noise is very wide. */
export function serverNoiseBound(counted: Counted, noise: Drawn): AggregateGuarantee["bound"] {
  return isSummedExactly(sumOf(counted, noise)) ? "exact" : "upper";
}

/** What the release costs, to be added up with others: for a server and for the public alike. */
export function serverNoiseCharge(counted: Counted, noise: Drawn, times = 1): Charge {
  return gaussianCharge(sumOf(counted, noise), times);
}

/**
 * The σ of one server for which it is (ε, δ), in devices or, for a mean, in units of the limit. The least, unless the
 * noise is narrower than 1: there δ does not always fall as σ grows.
 */
export function serverNoiseSigma(counted: Counted, epsilon: number, delta: number): number {
  const { sensitivity, draws, unit } = exposureOf(counted);
  // Of a histogram σ is that of one bucket, though two change.
  let sigma = (sigmaFor(epsilon, delta, sensitivity, draws) * sensitivity) / unit;
  const deltaAt = (): number => serverNoiseDelta(counted, serverNoise(counted, sigma), epsilon);
  // Dividing by the unit may have rounded down.
  for (let step = 1e-9; deltaAt() > delta; step *= 2) sigma *= 1 + step;
  return sigma;
}
