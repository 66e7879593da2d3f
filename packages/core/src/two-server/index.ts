/**
 * The work of leader and helper, of whom neither sees an answer, unless the task has `collusion`: they open their halves
 * of a report, verify them together, add up shares, and publish them for an analyst to assemble. The sharing itself is in
 * `sharing`, what is shared in `statistic`. May import everything but `plan` and `device`. Start reading at
 * `aggregator.ts`.
 */
export {
  encodeSignedShare,
  encodeWindowShare,
  parseSignedShare,
  parseWindowShare,
  type SignedShare,
  type WindowShare,
} from "../message/window-share.ts";
export { createPrio3Count, prio3Count } from "../sharing/create-prio3-count.ts";
export type { Prio3Count, VerifyState } from "../sharing/prio3-count.ts";
export { type ServerRole, sharingContext, type TaskWindow } from "../sharing/shared-bit.ts";
export {
  type OpenedSlot,
  SHARED_SLOT_BYTES,
  SLOT_HALF_BYTES,
  splitSharedSlots,
} from "../sharing/shared-slot.ts";
export { createTwoServerStatistic } from "../statistic/create-two-server.ts";
export type { Collusion, CollusionSpec, NoiseSource, ServerNoiseSpec, TwoServerSpec } from "../statistic/spec.ts";
export { answersIn, serverNoiseIn, type TwoServerStatistic } from "../statistic/two-server.ts";
export {
  type AggregateShare,
  addAggregateShares,
  createAggregateShare,
  mergeAggregateShares,
} from "./aggregate-share.ts";
export {
  type Aggregator,
  type AggregatorOptions,
  createAggregator,
  issueShareKeys,
  type KnownReport,
  openSlots,
  prepareReport,
  type ResumedAggregatorOptions,
} from "./aggregator.ts";
export { assembleRelease } from "./assemble-release.ts";
export {
  decodeShareKeys,
  decodeTwoServerReport,
  encodeShareKeys,
  encodeTwoServerReport,
  type ShareKeys,
  shareKeysBytes,
  type TwoServerReport,
  twoServerReportBytes,
} from "./messages.ts";
export { halfBytes, type TwoServerLayout, type TwoServerPart, twoServerLayoutOf } from "./task-layout.ts";
export { isValidReport, type PreparedHalf, verifierBytes } from "./verification.ts";
export {
  deriveWrappingKeys,
  deriveWrappingSeed,
  type HalfBinding,
  REPORT_ID_BYTES,
  type Unwrapping,
  WRAPPING_BYTES,
  WRAPPING_INFO,
  type WrappingKeys,
  wrapReport,
} from "./wrapping.ts";
