/**
 * From noisy sums to figures: unbiased estimates, their standard errors, the nearest values that could be true, quantiles,
 * and how two groups differ. May import `privacy`, and nothing else. Start reading at `estimate.ts`, then at
 * `quantile.ts`.
 */
export { type CategoryResponse, estimateCombination } from "./combination.ts";
export { clampTo, projectToHistogram } from "./consistent.ts";
export { type CoinsOf, coinTails, gaussianTails, karyCoins, responseCoins, unaryCoins } from "./cumulative-tails.ts";
export { type Difference, estimateDifference, type PerDevice } from "./difference.ts";
export {
  type Estimate,
  estimateFromKary,
  estimateFromResponses,
  estimateFromUnary,
  estimateMean,
  normalEstimate,
} from "./estimate.ts";
export { estimateQuantiles, type QuantileEstimate } from "./quantile.ts";
export { bucketErrors, informationTheoreticError, responseError, Z95 } from "./standard-error.ts";
