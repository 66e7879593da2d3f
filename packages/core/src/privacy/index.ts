/**
 * The mechanisms that make answers private, and in `accounting` what they cost: of one answer, of a release, of many
 * together. May import `randomness` and the files directly below `src`. Start reading at `randomized-response.ts`, then
 * at `accounting/aggregate.ts`.
 */
export {
  type AggregateGuarantee,
  type Answers,
  aggregateCharge,
  aggregateDelta,
  aggregateEpsilon,
  localEpsilonFor,
  localGuaranteeFor,
  THOROUGH,
} from "./accounting/aggregate.ts";
export { type Coin, logBinomial, lowerPart } from "./accounting/binomial.ts";
export { type ClampedSum, clampedCharge, clampedDelta, clampedEpsilon, clampOf } from "./accounting/clamped-sum.ts";
export {
  boundedEpsilon,
  type Charge,
  composedDelta,
  composedEpsilon,
  pureCharge,
  repeatedDelta,
} from "./accounting/composition.ts";
export {
  type GaussianSum,
  gaussianCharge,
  gaussianDelta,
  gaussianEpsilon,
  isSummedExactly,
  sigmaFor,
} from "./accounting/gaussian-sum.ts";
export { hijackedCharge, hijackedInvalidCharge, hijackedMeanCharge } from "./accounting/hijacked.ts";
export {
  INVALID_COUNT_EPSILON,
  INVALID_COUNT_STANDARD_ERROR,
  noisedInvalidCount,
} from "./accounting/invalid-count.ts";
export {
  CATEGORIES,
  COUNT,
  type Exposure,
  serverNoise,
  serverNoiseBound,
  serverNoiseCharge,
  serverNoiseDelta,
  serverNoiseEpsilon,
  serverNoiseSigma,
  sumUpTo,
  type TrulyAnswered,
} from "./accounting/server-noise.ts";
export {
  createDiscreteGaussian,
  type DiscreteGaussian,
  discreteGaussianVariance,
  drawDiscreteGaussian,
} from "./discrete-gaussian.ts";
export { drawDiscreteLaplace } from "./discrete-laplace.ts";
export { createKaryResponse, type KaryResponse, respondKary } from "./kary-response.ts";
export { chooseLedgerBits, type LedgerResponse, ledgerResponseWithBits } from "./ledger-response.ts";
export { createRandomizedResponse, type RandomizedResponse, respond } from "./randomized-response.ts";
export { createUnaryEncoding, respondUnary, type UnaryEncoding } from "./unary-encoding.ts";
