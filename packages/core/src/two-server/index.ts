export { addAggregateShares } from "./aggregate-share.ts";
export {
  type Aggregator,
  type AggregatorOptions,
  createAggregator,
  issueShareKeys,
  sharingContext,
  type TaskWindow,
} from "./aggregator.ts";
export { createPrio3Count, prio3Count } from "./create-prio3-count.ts";
export { createTwoServerStatistic } from "./create-statistic.ts";
export type { Prio3Count, VerifyState } from "./prio3-count.ts";
export type { ServerRole } from "./shared-bit.ts";
export type { NoiseSource, ServerNoiseSpec, TwoServerSpec } from "./spec.ts";
export type { TwoServerStatistic } from "./statistic.ts";
export { deriveWrappingKeys, type HalfBinding, type WrappingKeys, wrappedBytes, wrapReport } from "./wrapping.ts";
