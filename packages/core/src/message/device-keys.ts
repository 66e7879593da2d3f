import { join } from "../bytes.ts";
import type { KeyRole } from "../encryption/index.ts";
import { asciiBytes, type Xof, xof } from "../xof.ts";
import type { DeviceSides } from "./layout.ts";
import { HASH_BYTES } from "./manifest.ts";
import { bytesOfParts, decodeParts, encodeParts } from "./parts.ts";

const PUBLIC_KEYS = { what: "a set of public keys", kind: 0x4b, preamble: 0 } as const;

/** The length of a device's id in a window. */
export const DEVICE_BYTES = 16;
/** The length of an upload token before it is encoded. */
export const TOKEN_BYTES = 32;

const lengthsOf = (layout: DeviceSides): number[] => layout.map(({ device }) => device.bytes.publicKey);

/** The length of the public keys of a task. */
export function publicKeysBytes(layout: DeviceSides): number {
  return bytesOfParts(PUBLIC_KEYS, lengthsOf(layout));
}

/** A device's public keys for one window from one server, for all statistics of a task. */
export function encodePublicKeys(keys: readonly Uint8Array[]): Uint8Array {
  return encodeParts(PUBLIC_KEYS, new Uint8Array(), keys);
}

/** The keys of each statistic; anything else is a `bad-encoding` error. */
export function decodePublicKeys(layout: DeviceSides, bytes: Uint8Array): Uint8Array[] {
  return decodeParts(PUBLIC_KEYS, lengthsOf(layout), bytes).parts;
}

/** What ties public keys to one device in one window of one manifest. */
export interface PublicKeysBinding {
  readonly manifestHash: Uint8Array;
  readonly window: number;
  readonly device: Uint8Array;
  readonly role: KeyRole;
  readonly publicKeys: Uint8Array;
}

/**
 * What the server that issues public keys signs. Without it, an attacker between device and server could
 * replace the keys and read every state. A server passes its faster `hash`.
 */
export function publicKeysSigningBytes(
  { manifestHash, window, device, role, publicKeys }: PublicKeysBinding,
  hash: Xof = xof,
): Uint8Array {
  const bound = new Uint8Array(HASH_BYTES);
  hash("lethe public keys", manifestHash, asciiBytes(String(window)), device, asciiBytes(role), publicKeys)(bound);
  // A manifest begins with a brace: no signature over one is a signature over the other.
  return join([asciiBytes("lethe public keys "), bound]);
}
