export { decodeBase64url, decodeBase64urlOf, encodeBase64url } from "./base64url.ts";
export {
  DEVICE_BYTES,
  decodePublicKeys,
  type Enrolment,
  encodeEnrolment,
  encodePublicKeys,
  type PublicKeysBinding,
  parseEnrolment,
  publicKeysBytes,
  publicKeysSigningBytes,
  type SignedPublicKeys,
  TOKEN_BYTES,
} from "./device-keys.ts";
export { keyContextOf, type LayoutPart, layoutOf, type TaskLayout } from "./layout.ts";
export {
  decodeOperatorKey,
  encodeManifest,
  encodeOperatorKey,
  encodeSignedManifest,
  type Manifest,
  type ManifestServer,
  manifestHash,
  parseManifest,
  parseSignedManifest,
  SIGNATURE_BYTES,
  type SignedManifest,
} from "./manifest.ts";
export { isProblemCode, PROBLEMS, type Problem, type ProblemCode, problemOf } from "./problem.ts";
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
export { decodeReport, encodeReport, reportBytes } from "./report.ts";
export {
  type HistogramMetric,
  type MeanMetric,
  type Metric,
  type OccurrenceMetric,
  parseTask,
  statisticsOf,
  type Task,
  type TaskStatistic,
} from "./task.ts";
