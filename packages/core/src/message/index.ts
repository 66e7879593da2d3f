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
export { parseManifest, parseSignedManifest } from "./parse-manifest.ts";
export { PROBLEMS, type Problem, problemOf } from "./problem.ts";
export { isProblemCode, type ProblemCode } from "./problem-code.ts";
export { type Redirecting, redirectTarget, requireNoRedirect } from "./redirect.ts";
export type {
  BucketFigure,
  Figure,
  Lost,
  Refused,
  Release,
  ReleasedMetric,
  ReleaseOrWithheld,
  WindowState,
  WindowStatus,
  Withheld,
} from "./release.ts";
export { releasedMetrics, releasedPrivacy, type SummedStatistic } from "./released-metrics.ts";
export { decodeReport, encodeReport, reportBytes } from "./report.ts";
export { parseTask } from "./runnable.ts";
export {
  type CountedHistogramMetric,
  type CountedOccurrenceMetric,
  type HistogramMetric,
  type MeanMetric,
  type Metric,
  type OccurrenceMetric,
  resolved,
  schemeOf,
  statisticsOf,
  type Task,
  type TaskStatistic,
} from "./task.ts";
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
