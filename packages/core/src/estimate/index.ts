/**
 * From noisy sums to figures: unbiased estimates, their standard errors, and the nearest values that could be true. May
 * import types of `privacy`, and nothing else. Start reading at `estimate.ts`.
 */
export { type CategoryResponse, estimateCombination } from "./combination.ts";
export { clampTo, projectToHistogram } from "./consistent.ts";
export {
  type Estimate,
  estimateFromKary,
  estimateFromResponses,
  estimateFromUnary,
  estimateMean,
  normalEstimate,
} from "./estimate.ts";
export { bucketErrors, informationTheoreticError, responseError, Z95 } from "./standard-error.ts";
