export { clampTo, projectToHistogram } from "./consistent.ts";
export {
  type Estimate,
  estimateFromKary,
  estimateFromResponses,
  estimateFromUnary,
  estimateMean,
  normalEstimate,
} from "./estimate.ts";
