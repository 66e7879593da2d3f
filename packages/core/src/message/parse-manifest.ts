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
} from "../schema/field.ts";
import { decodeBase64urlOf } from "./base64url.ts";
import {
  decodeOperatorKey,
  type Manifest,
  type ManifestServer,
  SIGNATURE_BYTES,
  type SignedManifest,
} from "./manifest.ts";
import { requireRunnable } from "./runnable.ts";
import { TASK_FIELDS } from "./task-fields.ts";

const operatorKey: Read<string> = (path, value) => {
  decodeOperatorKey(text(path, value), path);
  return value as string;
};

const url: Read<string> = (path, value) =>
  typeof value === "string" && /^https?:\/\/[\x21-\x7e]{1,2000}$/.test(value)
    ? value
    : refuse(path, "is an http or https address", value);

const SERVER: Fields<ManifestServer> = { role: oneOf("tally", "leader", "helper"), url, key: operatorKey };

/** One server does everything; of two the leader comes first. */
const ROLES = { "one-server": ["tally"], "two-server": ["leader", "helper"] } as const;

function requireServers(manifest: Manifest): Manifest {
  const expected = ROLES[manifest.mode];
  const isExpected = expected.every((role, i) => manifest.servers[i]?.role === role);
  if (!isExpected || manifest.servers.length !== expected.length) {
    throw new RangeError(`servers of mode ${manifest.mode} are ${expected.join(" and ")}, in this order`);
  }
  return manifest;
}

const MANIFEST: Fields<Manifest> = {
  ...TASK_FIELDS,
  fromWindow: whole(0, Number.MAX_SAFE_INTEGER),
  servers: list("servers", (path, value) => readFields(path, requireObject(path, value), "a server", SERVER), 1, 2),
};

/** Reads a manifest whose signature was checked; the task in it can run. */
export function parseManifest(json: string): Manifest {
  return readMessage("manifest", json, (found) => {
    return requireRunnable(requireServers(readFields("", found, "a manifest", MANIFEST)));
  });
}

const SIGNED: Fields<{ manifest: string; signature: string }> = { manifest: text, signature: text };

/** Reads the envelope; the signature is still to be checked, over the bytes of `manifest`. */
export function parseSignedManifest(json: string): SignedManifest {
  return readMessage("manifest", json, (found) => {
    const { manifest, signature } = readFields("", found, "a signed manifest", SIGNED);
    return { manifest, signature: decodeBase64urlOf("signature", SIGNATURE_BYTES, signature) };
  });
}
