import type { KeyRole } from "../encryption/index.ts";
import { join } from "../statistic/concatenation.ts";
import { asciiBytes, xof } from "../xof.ts";
import { decodeBase64url, decodeBase64urlOf, encodeBase64url } from "./base64url.ts";
import { type Fields, list, oneOf, type Read, readFields, readMessage, refuse, requireObject, text } from "./fields.ts";
import type { TaskLayout } from "./layout.ts";
import { HASH_BYTES, SIGNATURE_BYTES } from "./manifest.ts";
import { bytesOfParts, decodeParts, encodeParts } from "./parts.ts";

const PUBLIC_KEYS = { what: "a set of public keys", kind: 0x4b, preamble: 0 } as const;

export const DEVICE_BYTES = 16;
export const TOKEN_BYTES = 32;

const lengthsOf = (layout: TaskLayout): number[] => layout.map(({ device }) => device.bytes.publicKey);

export function publicKeysBytes(layout: TaskLayout): number {
  return bytesOfParts(PUBLIC_KEYS, lengthsOf(layout));
}

/** A device's public keys for one window from one server, for all statistics of a task. */
export function encodePublicKeys(keys: readonly Uint8Array[]): Uint8Array {
  return encodeParts(PUBLIC_KEYS, new Uint8Array(), keys);
}

export function decodePublicKeys(layout: TaskLayout, bytes: Uint8Array): Uint8Array[] {
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
 * What the server that issues public keys signs. Without it, whoever stands between device and server could hand out
 * keys of their own and read every state.
 */
export function publicKeysSigningBytes({
  manifestHash,
  window,
  device,
  role,
  publicKeys,
}: PublicKeysBinding): Uint8Array {
  const hash = new Uint8Array(HASH_BYTES);
  xof("lethe public keys", manifestHash, asciiBytes(String(window)), device, asciiBytes(role), publicKeys)(hash);
  // A manifest begins with a brace: no signature over one is a signature over the other.
  return join([asciiBytes("lethe public keys "), hash]);
}

/** The answer to an enrolment. */
export interface Enrolment {
  /** 16 bytes, new in every window. */
  readonly device: Uint8Array;
  /** As it is sent back with the report. */
  readonly uploadToken: string;
  /** Of the manifest that the window runs under. */
  readonly manifestHash: Uint8Array;
  readonly keys: readonly SignedPublicKeys[];
}

export interface SignedPublicKeys {
  readonly role: KeyRole;
  readonly publicKeys: Uint8Array;
  readonly signature: Uint8Array;
}

const bytes =
  (length?: number): Read<Uint8Array> =>
  (path, value) => {
    const found = text(path, value);
    return length === undefined ? decodeBase64url(path, found) : decodeBase64urlOf(path, length, found);
  };

/** As a header can carry it. */
const token: Read<string> = (path, value) =>
  typeof value === "string" && /^[\x21-\x7e]{1,500}$/.test(value) ? value : refuse(path, "is a token", value);

const SIGNED_KEYS: Fields<SignedPublicKeys> = {
  role: oneOf("tally"),
  publicKeys: bytes(),
  signature: bytes(SIGNATURE_BYTES),
};

const ENROLMENT: Fields<Enrolment> = {
  device: bytes(DEVICE_BYTES),
  uploadToken: token,
  manifestHash: bytes(HASH_BYTES),
  keys: list("key", (path, value) => readFields(path, requireObject(path, value), "a key", SIGNED_KEYS), 1, 1),
};

/** Reads the answer to an enrolment, or refuses it with a `bad-encoding` error that names the field. */
export function parseEnrolment(json: string): Enrolment {
  return readMessage("enrolment", json, (found) => readFields("", found, "an enrolment", ENROLMENT));
}

export function encodeEnrolment({ device, uploadToken, manifestHash, keys }: Enrolment): string {
  return JSON.stringify({
    device: encodeBase64url(device),
    uploadToken,
    manifestHash: encodeBase64url(manifestHash),
    keys: keys.map(({ role, publicKeys, signature }) => ({
      role,
      publicKeys: encodeBase64url(publicKeys),
      signature: encodeBase64url(signature),
    })),
  });
}
