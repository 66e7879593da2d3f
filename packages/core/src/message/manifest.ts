import type { KeyRole } from "../encryption/index.ts";
import { LetheError } from "../error.ts";
import { xof } from "../xof.ts";
import { decodeBase64urlOf, encodeBase64url } from "./base64url.ts";
import type { Task } from "./task.ts";

/** Every platform has it; the types of ECMAScript alone do not. */
declare const TextEncoder: new () => { encode(text: string): Uint8Array };

/** Who can sign keys for a device: the one server, or leader and helper. */
export const KEY_ROLES: readonly KeyRole[] = ["tally", "leader", "helper"];
/** Of what names a manifest. */
export const HASH_BYTES = 32;
/** Of Ed25519. */
export const SIGNATURE_BYTES = 64;
const ED25519_BYTES = 32;

/** A task as it runs: what devices are asked, from which window on, and by whom. */
export interface Manifest extends Task {
  readonly fromWindow: number;
  /** Those that issue keys and open reports. */
  readonly servers: readonly ManifestServer[];
}

/** A server that devices get keys from. */
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

/** The text of a public key that signs manifests and keys. */
export function encodeOperatorKey(key: Uint8Array): string {
  return OPERATOR_KEY_PREFIX + encodeBase64url(key);
}

/** Its inverse; anything else is a `bad-encoding` error about `what`. */
export function decodeOperatorKey(key: string, what = "an operator key"): Uint8Array {
  if (!key.startsWith(OPERATOR_KEY_PREFIX)) {
    throw new LetheError("bad-encoding", `${what} begins with ${OPERATOR_KEY_PREFIX}`);
  }
  return decodeBase64urlOf(what, ED25519_BYTES, key.slice(OPERATOR_KEY_PREFIX.length));
}

/** The text of a manifest, which is then signed, stored and sent as it is. */
export function encodeManifest(manifest: Manifest): string {
  return JSON.stringify(manifest);
}

/** Names a manifest: states and reports carry it, and a signature over public keys covers it. */
export function manifestHash(manifest: string): Uint8Array {
  const hash = new Uint8Array(HASH_BYTES);
  xof("lethe manifest", new TextEncoder().encode(manifest))(hash);
  return hash;
}

/** The envelope of a manifest, as it is sent. */
export function encodeSignedManifest({ manifest, signature }: SignedManifest): string {
  return JSON.stringify({ manifest, signature: encodeBase64url(signature) });
}
