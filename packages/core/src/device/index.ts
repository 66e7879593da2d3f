/**
 * What a device needs of core, and nothing else. An SDK loads all of this; rotations, ElGamal and what two servers need
 * are loaded on demand (`loaders.ts`), each a file that lists the devices' halves of the statistics that run there. May
 * import everything but `plan`, and by value only what is small. Start reading at `protocol.ts`.
 */

export { join, splitInto } from "../bytes.ts";
export { LetheError, type LetheErrorCode } from "../error.ts";
export { headerOf, requireHeader } from "../header.ts";
export { decodeBase64url, decodeBase64urlOf, encodeBase64url } from "../message/base64url.ts";
export {
  DEVICE_BYTES,
  decodePublicKeys,
  type PublicKeysBinding,
  publicKeysBytes,
  publicKeysSigningBytes,
} from "../message/device-keys.ts";
export {
  decodeOperatorKey,
  HASH_BYTES,
  type Manifest,
  type ManifestServer,
  manifestHash,
  SIGNATURE_BYTES,
  type SignedManifest,
} from "../message/manifest.ts";
export { isFinal, isProblemCode, type ProblemCode } from "../message/problem-code.ts";
export { requireNoRedirect } from "../message/redirect.ts";
export { encodeReport, reportBytes } from "../message/report.ts";
export type { Task } from "../message/task.ts";
export {
  beginningOf,
  nextTick,
  tickAt,
  type WindowLength,
  type WindowTiming,
  windowAt,
  windowSeconds,
} from "../message/window-time.ts";
export type { Budget } from "../privacy/accounting/budget.ts";
export { type Randomness, randomnessFrom, withBufferedRandomness } from "../randomness/randomness.ts";
export { uniformBelow } from "../randomness/uniform.ts";
export type { Recorder } from "../statistic/recorder.ts";
export type { Metric } from "../statistic/spec.ts";
export type { DeviceSide, StatisticBytes } from "../statistic/statistic.ts";
export { lengthPrefixed, xof } from "../xof.ts";
export type { DeviceLayout, DeviceLayoutPart } from "./layout.ts";
export { type DeviceEnrolment, readEnrolment, readManifest, readSignedManifest } from "./messages.ts";
export { type DeviceProtocol, deviceProtocolOf, notLoaded, type TrustedKeys } from "./protocol.ts";
