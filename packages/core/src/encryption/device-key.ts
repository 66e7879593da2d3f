import { fastXof } from "../fast-xof.ts";
import type { Randomness } from "../randomness/index.ts";
import { asciiBytes } from "../xof.ts";
import type { KeyPair, RerandomizableScheme } from "./rerandomizable.ts";
import type { Secret } from "./secret.ts";

/** Which server holds the key: the only one, or one of two. */
export type KeyRole = "tally" | "leader" | "helper";

/** Everything a device key is bound to; a ciphertext under one of these says nothing under another. */
export interface DeviceKeyContext {
  readonly task: string;
  readonly window: number;
  /** The device's 16 random bytes, new every window. */
  readonly device: Uint8Array;
  readonly role: KeyRole;
  /** Which of the device's ciphertexts, from 0. */
  readonly index: number;
}

const MASTER_BYTES = 32;
const DEVICE_BYTES = 16;

type AnyScheme<PublicKey, SecretKey, Use extends "generateKeys" | "generateSecretKey"> = Pick<
  RerandomizableScheme<never, PublicKey, SecretKey, never>,
  "id" | Use
>;

/**
 * The keys of one device for one window: all randomness of `generateKeys` is
 * XOF(PRF(window master secret, task ‖ window ‖ device ‖ role ‖ scheme ‖ index)).
 *
 * Deterministic on purpose. If e were fresh each time a lattice key is issued, the average of re-issued keys
 * would reveal a·s, hence s. Bound to the device on purpose too: a captured ciphertext can be rerandomized, but
 * under another device id it opens to noise (no replay amplification). Keys of two contexts are independent as
 * long as TurboSHAKE128 is a pseudo-random function.
 */
export function deriveDeviceKeys<PublicKey, SecretKey>(
  scheme: AnyScheme<PublicKey, SecretKey, "generateKeys">,
  master: Secret<Uint8Array>,
  context: DeviceKeyContext,
): KeyPair<PublicKey, SecretKey> {
  return withKeyStream(scheme.id, master, context, (stream) => scheme.generateKeys(stream));
}

/** The secret half alone, for opening a report: the same as `deriveDeviceKeys(…).secretKey`, and cheaper. */
export function deriveDeviceSecretKey<PublicKey, SecretKey>(
  scheme: AnyScheme<PublicKey, SecretKey, "generateSecretKey">,
  master: Secret<Uint8Array>,
  context: DeviceKeyContext,
): SecretKey {
  return withKeyStream(scheme.id, master, context, (stream) => scheme.generateSecretKey(stream));
}

/** The public half alone, encoded, for issuing: the same as `deriveDeviceKeys(…).publicKey`, and cheaper. */
export function deriveDevicePublicKey(
  scheme: { readonly id: string; issueKey(random: Randomness): Uint8Array },
  master: Secret<Uint8Array>,
  context: DeviceKeyContext,
): Uint8Array {
  return withKeyStream(scheme.id, master, context, (stream) => scheme.issueKey(stream));
}

function withKeyStream<T>(
  schemeId: string,
  master: Secret<Uint8Array>,
  context: DeviceKeyContext,
  use: (stream: Randomness) => T,
): T {
  const masterBytes = master.reveal();
  if (masterBytes.length !== MASTER_BYTES) {
    throw new RangeError(`a window master secret has ${MASTER_BYTES} bytes, not ${masterBytes.length}`);
  }
  if (context.device.length !== DEVICE_BYTES) {
    throw new RangeError(`a device id has ${DEVICE_BYTES} bytes, not ${context.device.length}`);
  }
  const deviceKey = new Uint8Array(MASTER_BYTES);
  const prf = fastXof(
    "lethe device key",
    masterBytes,
    asciiBytes(context.task),
    decimal("window", context.window),
    context.device,
    asciiBytes(context.role),
    asciiBytes(schemeId),
    decimal("index", context.index),
  );
  prf(deviceKey);
  prf.destroy();
  const stream = fastXof("lethe key generation", deviceKey);
  try {
    return use(stream);
  } finally {
    stream.destroy();
    deviceKey.fill(0);
  }
}

function decimal(what: string, value: number): Uint8Array {
  if (!Number.isSafeInteger(value) || value < 0) {
    throw new RangeError(`a key's ${what} is a whole number from 0 on, not ${value}`);
  }
  return asciiBytes(String(value));
}
