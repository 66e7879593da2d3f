import { isSameBytes } from "../bytes.ts";
import { LetheError } from "../error.ts";
import { decodeBase64url, decodeBase64urlOf, encodeBase64url } from "../message/base64url.ts";
import { HASH_BYTES, type Manifest, SIGNATURE_BYTES } from "../message/manifest.ts";
import type { Release } from "../message/release.ts";
import { releasedMetrics, releasedPrivacy } from "../message/released-metrics.ts";
import type { TaskPlan } from "../plan/task.ts";
import { INVALID_COUNT_EPSILON, INVALID_COUNT_STANDARD_ERROR } from "../privacy/accounting/invalid-count.ts";
import { type Fields, name, number, oneOf, optional, readFields, readMessage, text, whole } from "../schema/field.ts";
import { ELEMENT_BYTES } from "../sharing/field64.ts";
import type { ServerRole } from "../sharing/shared-bit.ts";
import { answersIn } from "../statistic/two-server.ts";
import { addAggregateShares } from "./aggregate-share.ts";
import type { TwoServerLayout } from "./task-layout.ts";

/** What one of two servers publishes of a window: its share of all sums, with its noise. By itself it is uniform. */
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
  /** An element for every answer. */
  readonly share: Uint8Array;
  /** The leader's count of invalid reports, with noise. */
  readonly invalid?: number;
}

/** As it is published; the signature covers the UTF-8 bytes of `document`, exactly as they are. */
export interface SignedShare {
  readonly status: "shared";
  readonly document: string;
  readonly signature: Uint8Array;
}

export function encodeWindowShare(share: WindowShare): string {
  return JSON.stringify({
    ...share,
    manifestHash: encodeBase64url(share.manifestHash),
    reports: encodeBase64url(share.reports),
    share: encodeBase64url(share.share),
  });
}

export function encodeSignedShare({ status, document, signature }: SignedShare): string {
  return JSON.stringify({ status, document, signature: encodeBase64url(signature) });
}

const SIGNED: Fields<{ status: "shared"; document: string; signature: string }> = {
  status: oneOf("shared"),
  document: text,
  signature: text,
};

/** Reads the envelope; the signature is still to be checked, over the bytes of `document`. */
export function parseSignedShare(json: string): SignedShare {
  return readMessage("share", json, (found) => {
    const { status, document, signature } = readFields("", found, "a signed share", SIGNED);
    return { status, document, signature: decodeBase64urlOf("signature", SIGNATURE_BYTES, signature) };
  });
}

const count = whole(0, Number.MAX_SAFE_INTEGER);

const SHARE: Fields<
  Omit<WindowShare, "manifestHash" | "reports" | "share"> & { manifestHash: string; reports: string; share: string }
> = {
  role: oneOf("leader", "helper"),
  task: name,
  version: count,
  window: count,
  from: count,
  to: count,
  at: count,
  manifestHash: text,
  enrolled: optional(count, undefined),
  received: count,
  reports: text,
  share: text,
  invalid: optional(number, undefined),
};

/** Reads a share whose signature was checked. */
export function parseWindowShare(json: string): WindowShare {
  return readMessage("share", json, (found) => {
    const share = readFields("", found, "a share", SHARE);
    return {
      ...share,
      manifestHash: decodeBase64urlOf("manifestHash", HASH_BYTES, share.manifestHash),
      reports: decodeBase64urlOf("reports", HASH_BYTES, share.reports),
      share: decodeBase64url("share", share.share),
    };
  });
}

/** What neither server can make alone: the release, from both shares of one window. */
export function assembleRelease(
  {
    manifest,
    hash,
    layout,
  }: { readonly manifest: Manifest; readonly hash: Uint8Array; readonly layout: TwoServerLayout },
  leader: WindowShare,
  helper: WindowShare,
  cost: TaskPlan,
): Release {
  requireSame(manifest, hash, leader, helper);
  const answers = answersIn(layout.map(({ statistic }) => statistic));
  if (leader.share.length !== answers * ELEMENT_BYTES || helper.share.length !== leader.share.length) {
    throw new LetheError("bad-share", "a share does not have an element for every answer of the task");
  }
  const sums = addAggregateShares(leader.share, helper.share);
  let at = 0;
  const statistics = layout.map(({ spec, metrics, statistic }) => {
    at += statistic.answers;
    return { ...spec, metrics, estimates: statistic, sums: sums.slice(at - statistic.answers, at) };
  });
  const { task, version, window, from, to, received, enrolled = received, invalid = 0 } = leader;
  return {
    status: "released",
    task,
    version,
    window,
    from,
    to,
    at: Math.max(leader.at, helper.at),
    enrolled,
    received,
    refused: {},
    metrics: releasedMetrics(manifest.metrics, statistics, received, cost),
    invalid: {
      estimate: invalid,
      standardError: INVALID_COUNT_STANDARD_ERROR,
      epsilon: INVALID_COUNT_EPSILON,
    },
    privacy: releasedPrivacy(cost),
  };
}

function requireSame(manifest: Manifest, hash: Uint8Array, leader: WindowShare, helper: WindowShare): void {
  const refuse = (what: string): never => {
    throw new LetheError("bad-share", `the shares of leader and helper do not belong together: ${what}`);
  };
  if (leader.role !== "leader" || helper.role !== "helper") refuse("they are not one of each");
  for (const field of ["task", "version", "window", "received"] as const) {
    if (leader[field] !== helper[field])
      refuse(`${field} is ${leader[field]} at the leader, ${helper[field]} at the helper`);
  }
  if (leader.task !== manifest.task || leader.version !== manifest.version) refuse("they are of another task");
  if (!isSameBytes(leader.manifestHash, hash) || !isSameBytes(helper.manifestHash, hash))
    refuse("they are of another manifest");
  if (!isSameBytes(leader.reports, helper.reports)) refuse("they counted different reports");
}
