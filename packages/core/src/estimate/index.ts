export { clampTo, projectToHistogram } from "./consistent.ts";
export {
  type Estimate,
  estimateFromKary,
  estimateFromResponses,
  estimateFromUnary,
  estimateMean,
} from "./estimate.ts";
