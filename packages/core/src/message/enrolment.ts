import type { KeyRole } from "../encryption/index.ts";
import {
  type Fields,
  list,
  oneOf,
  type Read,
  readFields,
  readMessage,
  refuse,
  requireObject,
  text,
} from "../schema/field.ts";
import { decodeBase64url, decodeBase64urlOf, encodeBase64url } from "./base64url.ts";
import { DEVICE_BYTES } from "./device-keys.ts";
import { HASH_BYTES, SIGNATURE_BYTES } from "./manifest.ts";

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
  role: oneOf("tally", "leader", "helper"),
  publicKeys: bytes(),
  signature: bytes(SIGNATURE_BYTES),
};

const ENROLMENT: Fields<Enrolment> = {
  device: bytes(DEVICE_BYTES),
  uploadToken: token,
  manifestHash: bytes(HASH_BYTES),
  keys: list("keys", (path, value) => readFields(path, requireObject(path, value), "a key", SIGNED_KEYS), 1, 2),
};

/** Reads the answer to an enrolment, or refuses it with a `bad-encoding` error that names the field. */
export function parseEnrolment(json: string): Enrolment {
  return readMessage("enrolment", json, (found) => {
    const enrolment = readFields("", found, "an enrolment", ENROLMENT);
    const roles = enrolment.keys.map(({ role }) => role).join(" and ");
    if (roles !== "tally" && roles !== "leader and helper") {
      throw new RangeError(`keys are those of tally, or of leader and helper, not of ${roles}`);
    }
    return enrolment;
  });
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
