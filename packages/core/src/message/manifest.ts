import { utf8ToBytes } from "@noble/hashes/utils.js";
import type { KeyRole } from "../encryption/index.ts";
import { LetheError } from "../error.ts";
import { xof } from "../xof.ts";
import { decodeBase64urlOf, encodeBase64url } from "./base64url.ts";
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
  whole,
} from "./fields.ts";
import { requireRunnable, TASK_FIELDS, type Task } from "./task.ts";

export const HASH_BYTES = 32;
export const SIGNATURE_BYTES = 64;
const ED25519_BYTES = 32;

/** A task as it runs: what devices are asked, from which window on, and by whom. */
export interface Manifest extends Task {
  readonly fromWindow: number;
  /** Those that issue keys and open reports. */
  readonly servers: readonly ManifestServer[];
}

export interface ManifestServer {
  readonly role: KeyRole;
  /** Where devices reach it. */
  readonly url: string;
  /** `ed25519:` and 32 bytes in base64url; signs manifests and public keys. */
  readonly key: string;
}

/** As it is sent. The signature covers the UTF-8 bytes of `manifest`, exactly as they are. */
export interface SignedManifest {
  readonly manifest: string;
  readonly signature: Uint8Array;
}

const OPERATOR_KEY_PREFIX = "ed25519:";

export function encodeOperatorKey(key: Uint8Array): string {
  return OPERATOR_KEY_PREFIX + encodeBase64url(key);
}

export function decodeOperatorKey(key: string, what = "an operator key"): Uint8Array {
  if (!key.startsWith(OPERATOR_KEY_PREFIX)) {
    throw new LetheError("bad-encoding", `${what} begins with ${OPERATOR_KEY_PREFIX}`);
  }
  return decodeBase64urlOf(what, ED25519_BYTES, key.slice(OPERATOR_KEY_PREFIX.length));
}

const operatorKey: Read<string> = (path, value) => {
  decodeOperatorKey(text(path, value), path);
  return value as string;
};

const url: Read<string> = (path, value) =>
  typeof value === "string" && /^https?:\/\/[\x21-\x7e]{1,2000}$/.test(value)
    ? value
    : refuse(path, "is an http or https address", value);

/** One server does everything. */
const SERVER: Fields<ManifestServer> = { role: oneOf("tally"), url, key: operatorKey };

const MANIFEST: Fields<Manifest> = {
  ...TASK_FIELDS,
  fromWindow: whole(0, Number.MAX_SAFE_INTEGER),
  servers: list("server", (path, value) => readFields(path, requireObject(path, value), "a server", SERVER), 1, 1),
};

/** The text of a manifest, which is then signed, stored and sent as it is. */
export function encodeManifest(manifest: Manifest): string {
  return JSON.stringify(manifest);
}

/** Reads a manifest whose signature was checked; the task in it can run. */
export function parseManifest(json: string): Manifest {
  return readMessage("manifest", json, (found) => requireRunnable(readFields("", found, "a manifest", MANIFEST)));
}

/** Names a manifest: states and reports carry it, and a signature over public keys covers it. */
export function manifestHash(manifest: string): Uint8Array {
  const hash = new Uint8Array(HASH_BYTES);
  xof("lethe manifest", utf8ToBytes(manifest))(hash);
  return hash;
}

const SIGNED: Fields<{ manifest: string; signature: string }> = { manifest: text, signature: text };

/** Reads the envelope; the signature is still to be checked, over the bytes of `manifest`. */
export function parseSignedManifest(json: string): SignedManifest {
  return readMessage("manifest", json, (found) => {
    const { manifest, signature } = readFields("", found, "a signed manifest", SIGNED);
    return { manifest, signature: decodeBase64urlOf("signature", SIGNATURE_BYTES, signature) };
  });
}

export function encodeSignedManifest({ manifest, signature }: SignedManifest): string {
  return JSON.stringify({ manifest, signature: encodeBase64url(signature) });
}
