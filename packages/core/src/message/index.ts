/**
 * What devices, servers and analysts send each other, in bytes and in JSON: tasks, manifests, enrolments, reports,
 * releases and refusals, each with its description (`…-fields.ts`), from which reading, checking and the schemas of the
 * API follow. Also here: which window runs when. May import `schema`, `statistic` and what those may. Start reading at
 * `task.ts`, then at `manifest.ts` and `release.ts`.
 */
export type { CountedHistogramMetric, HistogramMetric } from "../statistic/histogram/histogram.ts";
export type { MeanMetric } from "../statistic/mean/mean.ts";
export type { CountedOccurrenceMetric, OccurrenceMetric } from "../statistic/occurrence/occurrence.ts";
export type { Metric } from "../statistic/spec.ts";
export { decodeBase64url, decodeBase64urlOf, encodeBase64url } from "./base64url.ts";
export {
  DEVICE_BYTES,
  decodePublicKeys,
  encodePublicKeys,
  type PublicKeysBinding,
  publicKeysBytes,
  publicKeysSigningBytes,
  TOKEN_BYTES,
} from "./device-keys.ts";
export { type Enrolment, encodeEnrolment, parseEnrolment, type SignedPublicKeys } from "./enrolment.ts";
export { keyContextOf, type LayoutPart, layoutOf, type TaskLayout } from "./layout.ts";
export {
  decodeOperatorKey,
  encodeManifest,
  encodeOperatorKey,
  encodeSignedManifest,
  type Manifest,
  type ManifestServer,
  manifestHash,
  SIGNATURE_BYTES,
  type SignedManifest,
} from "./manifest.ts";
export type { Operations, OperationsBacklog, ServiceInfo, ServiceRole, TaskOperations } from "./operations.ts";
export { parseOperations, parseServiceInfo } from "./operations-fields.ts";
export { parseManifest, parseSignedManifest } from "./parse-manifest.ts";
export { PROBLEMS, type Problem, problemOf } from "./problem.ts";
export { isProblemCode, type ProblemCode } from "./problem-code.ts";
export { type Redirecting, redirectTarget, requireNoRedirect } from "./redirect.ts";
export {
  type BucketFigure,
  type Figure,
  type FigureDifference,
  figuresOf,
  type GroupDifference,
  type LabelledFigure,
  type Lost,
  type MetricDifference,
  type PeriodFigure,
  quantilesOf,
  type Refused,
  type Release,
  type ReleasedGroup,
  type ReleasedMetric,
  type ReleasedQuantile,
  type ReleaseOrWithheld,
  summaryOf,
  type WindowState,
  type WindowStatus,
  type Withheld,
  type WithheldGroup,
} from "./release.ts";
export { parseRelease } from "./release-fields.ts";
export { type GroupCounts, type GroupSums, releasedFigures, withheldGroups } from "./released-groups.ts";
export { releasedPrivacy } from "./released-metrics.ts";
export { decodeReport, encodeReport, reportBytes } from "./report.ts";
export { parseTask } from "./runnable.ts";
export { SCHEMAS } from "./schemas.ts";
export { resolved, schemeOf, statisticsOf, type Task, type TaskStatistic } from "./task.ts";
export { eventsOf, eventsOfMetric } from "./task-events.ts";
export {
  beginningOf,
  nextTick,
  oldestInGrace,
  phaseOf,
  tickAt,
  timesOf,
  type WindowLength,
  type WindowPhase,
  type WindowTimes,
  type WindowTiming,
  windowAt,
  windowSeconds,
} from "./window-time.ts";
