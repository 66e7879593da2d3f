import { type KeyObject, sign } from "node:crypto";
import { encodeBase64url } from "@lethe/core/message";

/** One attempt to deliver a document. */
export interface Attempt {
  /** The same for every attempt. */
  readonly id: string;
  /** Unix seconds. */
  readonly at: number;
  readonly body: Uint8Array;
}

/**
 * The headers of an attempt. The signature covers its time, its id and its body. Manifests and shares begin with a
 * brace, and public keys with their own words: no signature over one of those is a signature over this.
 */
export function signedHeaders(key: KeyObject, { id, at, body }: Attempt): Record<string, string> {
  const message = Buffer.concat([Buffer.from(`lethe webhook v1\n${at}\n${id}\n`), body]);
  return {
    "content-type": "application/json",
    "lethe-timestamp": `${at}`,
    "lethe-delivery": id,
    "lethe-signature": encodeBase64url(sign(null, message, key)),
  };
}
