import { type KeyObject, sign } from "node:crypto";

/** One attempt to deliver a document. */
export interface Attempt {
  /** The same for every attempt. */
  readonly id: string;
  /** Unix seconds. */
  readonly at: number;
  readonly body: Uint8Array;
}

/**
 * The headers of an attempt, as Standard Webhooks has them (standardwebhooks.com): `v1a` is Ed25519 over
 * `id.timestamp.body`. The key is the operator's. What else it signs begins with a brace (manifests, shares) or with
 * words (public keys), and an id with a hexadecimal digit: no signature over one of those is a signature over this.
 */
export function signedHeaders(key: KeyObject, { id, at, body }: Attempt): Record<string, string> {
  const signature = sign(null, Buffer.concat([Buffer.from(`${id}.${at}.`), body]), key).toString("base64");
  return {
    "content-type": "application/json",
    "webhook-id": id,
    "webhook-timestamp": `${at}`,
    "webhook-signature": `v1a,${signature}`,
  };
}
