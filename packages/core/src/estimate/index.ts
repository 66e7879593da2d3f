/**
 * From noisy sums to figures: unbiased estimates, their standard errors, the nearest values that could be true, and how
 * two groups differ. May import types of `privacy`, and nothing else. Start reading at `estimate.ts`.
 */
export { clampTo, projectToHistogram } from "./consistent.ts";
export { type Difference, estimateDifference, type PerDevice } from "./difference.ts";
export {
  type Estimate,
  estimateFromKary,
  estimateFromResponses,
  estimateFromUnary,
  estimateMean,
  normalEstimate,
} from "./estimate.ts";
export { bucketErrors, informationTheoreticError, responseError, Z95 } from "./standard-error.ts";
