import {
  count,
  described,
  type Fields,
  finite,
  list,
  name,
  object,
  oneOf,
  optional,
  readFields,
  readMessage,
  text,
} from "../schema/index.ts";
import type { ServerRole } from "../sharing/shared-bit.ts";
import { encodeBase64url } from "./base64url.ts";
import { base64url } from "./base64url-field.ts";
import { HASH_BYTES, SIGNATURE_BYTES } from "./manifest.ts";

/**
 * What one of two servers publishes of a window: its share of all sums, with its noise. By itself it is uniform, unless
 * the task has `collusion: "one-server"`: then it is half of the sums.
 */
export interface WindowShare {
  readonly role: ServerRole;
  readonly task: string;
  readonly version: number;
  readonly window: number;
  /** Unix seconds: beginning and end of the window, and when the share was made. */
  readonly from: number;
  readonly to: number;
  readonly at: number;
  readonly manifestHash: Uint8Array;
  /** Devices that the leader enrolled; the helper does not know. */
  readonly enrolled?: number;
  /** Reports that were counted, and a hash of which they were: both servers' are the same. */
  readonly received: number;
  readonly reports: Uint8Array;
  /** How many reports each group of the task has, in the task's order; absent if it has no groups. */
  readonly groups?: readonly SharedGroup[];
  /** An element for every answer; with groups, for every answer of each group that is released, one after another. */
  readonly share: Uint8Array;
  /** The leader's count of invalid reports, with noise. */
  readonly invalid?: number;
}

/** A group of a task, in a share. */
interface SharedGroup {
  readonly group: string;
  /** Devices that the leader enrolled; the helper does not know. */
  readonly enrolled?: number;
  readonly received: number;
}

/** As it is published; the signature covers the UTF-8 bytes of `document`, exactly as they are. */
export interface SignedShare {
  readonly status: "shared";
  readonly document: string;
  readonly signature: Uint8Array;
}

/** The text of a share, which is then signed, stored and published as it is. */
export function encodeWindowShare(share: WindowShare): string {
  return JSON.stringify({
    ...share,
    manifestHash: encodeBase64url(share.manifestHash),
    reports: encodeBase64url(share.reports),
    share: encodeBase64url(share.share),
  });
}

/** The envelope of a share, as it is published. */
export function encodeSignedShare({ status, document, signature }: SignedShare): string {
  return JSON.stringify({ status, document, signature: encodeBase64url(signature) });
}

/** The fields of the envelope. */
export const SIGNED_SHARE_FIELDS: Fields<SignedShare> = {
  status: oneOf("shared"),
  document: described(text, "the text of this server's WindowShare, JSON; the signature covers its UTF-8 bytes"),
  signature: base64url(SIGNATURE_BYTES),
};

/** Reads the envelope; the signature is still to be checked, over the bytes of `document`. */
export function parseSignedShare(json: string): SignedShare {
  return readMessage("share", json, (found) => readFields("", found, "a signed share", SIGNED_SHARE_FIELDS));
}

const SHARED_GROUP: Fields<SharedGroup> = {
  group: name,
  enrolled: optional(count) as Fields<SharedGroup>["enrolled"],
  received: count,
};

/** The fields of a share. */
export const WINDOW_SHARE_FIELDS: Fields<WindowShare> = {
  role: oneOf("leader", "helper"),
  task: name,
  version: count,
  window: count,
  from: count,
  to: count,
  at: count,
  manifestHash: base64url(HASH_BYTES),
  enrolled: optional(count) as Fields<WindowShare>["enrolled"],
  received: count,
  reports: base64url(HASH_BYTES),
  groups: optional(
    list("groups", object("a group", SHARED_GROUP), 0, Number.POSITIVE_INFINITY),
  ) as Fields<WindowShare>["groups"],
  share: base64url(),
  invalid: optional(finite) as Fields<WindowShare>["invalid"],
};

/** Reads a share whose signature was checked. */
export function parseWindowShare(json: string): WindowShare {
  return readMessage("share", json, (found) => readFields("", found, "a share", WINDOW_SHARE_FIELDS));
}
