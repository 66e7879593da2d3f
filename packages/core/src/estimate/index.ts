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
