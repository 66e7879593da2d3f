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

/** What devices answered truly, and each of two servers adds noise to. A `ServerNoiseSpec` is one. */
export type TrulyAnswered =
  | { readonly statistic: "occurrence" | "histogram" }
  | { readonly statistic: "mean"; readonly limit: number };

/** What one server adds to each figure, by its parameter as it is drawn: a bare number could be σ or σ², in either unit. */
type Drawn = Pick<DiscreteGaussian, "sigma2">;

/** What σ is given in: devices, or a mean's limit. */
function unitOf(counted: TrulyAnswered): number {
  return counted.statistic === "mean" ? counted.limit : 1;
}

/** What one server draws for every figure, at this σ in devices or, for a mean, in units of the limit. */
export function serverNoise(counted: TrulyAnswered, sigma: number): DiscreteGaussian {
  return createDiscreteGaussian(sigma * unitOf(counted));
}

/**
 * How much one device can change, and how many draws stand before it: those of one server, since the other knows its own and subtracts
 * it. A count changes by 1 and a sum by the limit. Of a histogram two buckets change by 1, and as the likelihood ratio depends
 * on the sum of the two draws only, they are as good as one figure with both draws that changes by 2 (proof: docs/privacy.md).
 */
function exposureOf(counted: TrulyAnswered): Omit<GaussianSum, "sigma2"> {
  if (counted.statistic === "histogram") return { sensitivity: 2, devices: 2 };
  return { sensitivity: unitOf(counted), devices: 1 };
}

function sumOf(counted: TrulyAnswered, { sigma2 }: Drawn): GaussianSum {
  return { sigma2, ...exposureOf(counted) };
}

/** δ(ε) against one of the servers if the other is honest, and so against everybody else; for any number of devices. */
export function serverNoiseDelta(counted: TrulyAnswered, noise: Drawn, epsilon: number): number {
  return gaussianDelta(sumOf(counted, noise), epsilon);
}

/** The least ε at δ, from above. */
export function serverNoiseEpsilon(counted: TrulyAnswered, noise: Drawn, delta: number): number {
  return gaussianEpsilon(sumOf(counted, noise), delta);
}

/** Whether these are the least, or only bounds because the noise is very wide. */
export function serverNoiseBound(counted: TrulyAnswered, noise: Drawn): AggregateGuarantee["bound"] {
  return isSummedExactly(sumOf(counted, noise)) ? "exact" : "upper";
}

/** What the release costs, to be added up with others: for a server and for the public alike. */
export function serverNoiseCharge(counted: TrulyAnswered, noise: Drawn, times = 1): Charge {
  return gaussianCharge(sumOf(counted, noise), times);
}

/**
 * The σ of one server for which it is (ε, δ), in devices or, for a mean, in units of the limit. The least, unless the noise is narrower
 * than 1: there δ does not always fall as σ grows.
 */
export function serverNoiseSigma(counted: TrulyAnswered, epsilon: number, delta: number): number {
  const { sensitivity, devices } = exposureOf(counted);
  // Of a histogram σ is that of one bucket, though two change.
  let sigma = (sigmaFor(epsilon, delta, sensitivity, devices) * sensitivity) / unitOf(counted);
  const deltaAt = (): number => serverNoiseDelta(counted, serverNoise(counted, sigma), epsilon);
  // Dividing by the unit may have rounded down.
  for (let step = 1e-9; deltaAt() > delta; step *= 2) sigma *= 1 + step;
  return sigma;
}
