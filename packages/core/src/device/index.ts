/** What a device needs of core, and nothing else: an SDK loads all of this, but for ElGamal, which follows on demand. */

export { LetheError, type LetheErrorCode } from "../error.ts";
export { decodeBase64url, decodeBase64urlOf, encodeBase64url } from "../message/base64url.ts";
export {
  DEVICE_BYTES,
  decodePublicKeys,
  type PublicKeysBinding,
  publicKeysBytes,
  publicKeysSigningBytes,
} from "../message/device-keys.ts";
export type { Enrolment, SignedPublicKeys } from "../message/enrolment.ts";
export {
  decodeOperatorKey,
  HASH_BYTES,
  type Manifest,
  type ManifestServer,
  manifestHash,
  SIGNATURE_BYTES,
  type SignedManifest,
} from "../message/manifest.ts";
export { isProblemCode, type ProblemCode } from "../message/problem-code.ts";
export { encodeReport, reportBytes } from "../message/report.ts";
export type { Metric, Task } from "../message/task.ts";
export { type Randomness, randomnessFrom, withBufferedRandomness } from "../randomness/randomness.ts";
export { uniformBelow } from "../randomness/uniform.ts";
export { join } from "../statistic/concatenation.ts";
export type { Recorder } from "../statistic/recorder.ts";
export type { DeviceSide, StatisticBytes } from "../statistic/statistic.ts";
export { xof } from "../xof.ts";
export { type DeviceLayout, type DeviceLayoutPart, deviceLayoutOf } from "./layout.ts";
export { readEnrolment, readManifest, readSignedManifest } from "./messages.ts";
