import type { KeyRole } from "../encryption/index.ts";
import { type Fields, list, object, oneOf, readFields, readMessage, token } from "../schema/index.ts";
import { encodeBase64url } from "./base64url.ts";
import { base64url } from "./base64url-field.ts";
import { DEVICE_BYTES } from "./device-keys.ts";
import { HASH_BYTES, KEY_ROLES, SIGNATURE_BYTES } from "./manifest.ts";

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

/** Keys from one server. */
export interface SignedPublicKeys {
  readonly role: KeyRole;
  readonly publicKeys: Uint8Array;
  readonly signature: Uint8Array;
}

const SIGNED_KEYS: Fields<SignedPublicKeys> = {
  role: oneOf(...KEY_ROLES),
  publicKeys: base64url(),
  signature: base64url(SIGNATURE_BYTES),
};

/** The fields of the answer to an enrolment. */
export const ENROLMENT_FIELDS: Fields<Enrolment> = {
  device: base64url(DEVICE_BYTES),
  uploadToken: token,
  manifestHash: base64url(HASH_BYTES),
  keys: list("keys", object("a key", SIGNED_KEYS), 1, 2),
};

/** Reads the answer to an enrolment, or refuses it with a `bad-encoding` error that names the field. */
export function parseEnrolment(json: string): Enrolment {
  return readMessage("enrolment", json, (found) => {
    const enrolment = readFields("", found, "an enrolment", ENROLMENT_FIELDS);
    const roles = enrolment.keys.map(({ role }) => role).join(" and ");
    if (roles !== "tally" && roles !== "leader and helper") {
      throw new RangeError(`keys are those of tally, or of leader and helper, not of ${roles}`);
    }
    return enrolment;
  });
}

/**
 * The answer to an enrolment, as it is sent. A service may have a faster way to write base64url than core has. Written
 * field by field: `JSON.stringify` would look for characters to escape in kilobytes of base64url.
 */
export function encodeEnrolment(
  { device, uploadToken, manifestHash, keys }: Enrolment,
  base64urlOf: (bytes: Uint8Array) => string = encodeBase64url,
): string {
  const signedKeys = keys.map(
    ({ role, publicKeys, signature }) =>
      `{"role":"${role}","publicKeys":"${base64urlOf(publicKeys)}","signature":"${base64urlOf(signature)}"}`,
  );
  const fields = [
    `{"device":"${base64urlOf(device)}"`,
    `"uploadToken":${JSON.stringify(uploadToken)}`,
    `"manifestHash":"${base64urlOf(manifestHash)}"`,
    `"keys":[${signedKeys.join(",")}]}`,
  ];
  return fields.join(",");
}
