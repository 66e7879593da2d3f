/**
 * The messages between leader and helper: their bytes (this file), their authentication (`envelope.ts`), the operations
 * (`operation.ts`), the key of a window's queries (`verify-key.ts`), and who the other server is (`other-server.ts`).
 * Neither side's behaviour is here: see `leader/` and `helper/`. This folder may import `tally`, `clock` and `storage`.
 */

import { createHash } from "node:crypto";
import { LetheError } from "@lethe/core/error";
import { DEVICE_BYTES, SIGNATURE_BYTES } from "@lethe/core/message";
import { halfBytes, REPORT_ID_BYTES, shareKeysBytes, verifierBytes, WRAPPING_BYTES } from "@lethe/core/two-server";
import type { TwoServerTask } from "../storage/tasks.ts";

const HASH_BYTES = 32;
const COUNT_BYTES = 8;
const HELPER_KEYS_BYTES = shareKeysBytes("helper");
const LEADER_KEYS_BYTES = shareKeysBytes("leader");

/** A helper's keys for a device, with its signature. */
export interface HelperKeys {
  readonly publicKeys: Uint8Array;
  readonly signature: Uint8Array;
}

/** Both servers' keys as one entry of the pool: the leader's keys, then the helper's and its signature. */
export function packHelperKeys(leaderKeys: Uint8Array, { publicKeys, signature }: HelperKeys): Uint8Array {
  return Buffer.concat([leaderKeys, publicKeys, signature]);
}

/** The keys in an entry of the pool. */
export function unpackHelperKeys(packed: Uint8Array): { readonly leaderKeys: Uint8Array } & HelperKeys {
  const end = LEADER_KEYS_BYTES + HELPER_KEYS_BYTES;
  return {
    leaderKeys: packed.subarray(0, LEADER_KEYS_BYTES),
    publicKeys: packed.subarray(LEADER_KEYS_BYTES, end),
    signature: packed.subarray(end),
  };
}

/** One report of a job: what the helper shall open, and the leader's verifier. */
export interface JobEntry {
  readonly device: Uint8Array;
  /** One byte, the place of its group among those of the task; none if the task has no groups. */
  readonly groupByte: Uint8Array;
  readonly report: Uint8Array;
  readonly half: Uint8Array;
  readonly leaderVerifier: Uint8Array;
}

/** The sizes, in bytes, of what a job carries for each report. */
export interface JobSizes {
  readonly group: number;
  readonly half: number;
  readonly verifier: number;
}

/** What every request about a window begins with: the servers must agree on it before anything else. */
export interface Agreed {
  readonly manifestHash: Uint8Array;
  /** A commitment to the helper's secret for the window; all zeros if the helper has made no keys yet. */
  readonly helperCommitment: Uint8Array;
}

function encodeAgreed({ manifestHash, helperCommitment }: Agreed): Uint8Array {
  return Buffer.concat([manifestHash, helperCommitment]);
}

function decodeAgreed(bytes: Uint8Array): Agreed & { readonly rest: Uint8Array } {
  const [manifestHash, others] = take(bytes, HASH_BYTES);
  const [helperCommitment, rest] = take(others, HASH_BYTES);
  return { manifestHash, helperCommitment, rest };
}

/** A request for keys of these devices. */
export function encodeKeysRequest(agreed: Agreed, devices: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat([encodeAgreed(agreed), ...devices]);
}

/** Reads a request for keys; throws `bad-encoding` if it has the wrong length. */
export function decodeKeysRequest(bytes: Uint8Array): Agreed & { readonly devices: Uint8Array[] } {
  const { rest, ...agreed } = decodeAgreed(bytes);
  return { ...agreed, devices: rowsOf(rest, [DEVICE_BYTES]).map(([device]) => device as Uint8Array) };
}

/** The helper's keys for devices, and a commitment to the secret that they derive from. */
export interface IssuedHelperKeys {
  readonly helperCommitment: Uint8Array;
  readonly keys: readonly HelperKeys[];
}

/** The answer to a request for keys. */
export function encodeKeys({ helperCommitment, keys }: IssuedHelperKeys): Uint8Array {
  return Buffer.concat([helperCommitment, ...keys.flatMap(({ publicKeys, signature }) => [publicKeys, signature])]);
}

/** Reads the keys for `count` devices; throws `bad-encoding` if there are more or fewer. */
export function decodeKeys(bytes: Uint8Array, count: number): IssuedHelperKeys {
  const [helperCommitment, rest] = take(bytes, HASH_BYTES);
  const rows = rowsOf(rest, [HELPER_KEYS_BYTES, SIGNATURE_BYTES]);
  if (rows.length !== count)
    throw new LetheError("bad-encoding", "the helper's answer does not have one key per device");
  return { helperCommitment, keys: rows.map(([publicKeys, signature]) => ({ publicKeys, signature }) as HelperKeys) };
}

/** A job: reports that the helper shall verify and count. `verifyKey` is a commitment to the verify key. */
export function encodeJob(
  { verifyKey, ...agreed }: Agreed & { readonly verifyKey: Uint8Array },
  entries: readonly JobEntry[],
): Uint8Array {
  const rows = entries.flatMap(({ device, groupByte, report, half, leaderVerifier }) => {
    return [device, groupByte, report, half, leaderVerifier];
  });
  return Buffer.concat([encodeAgreed(agreed), verifyKey, ...rows]);
}

/** Reads the beginning of a job; `rest` holds its reports. */
export function decodeJobHead(
  bytes: Uint8Array,
): Agreed & { readonly verifyKey: Uint8Array; readonly rest: Uint8Array } {
  const { rest: others, ...agreed } = decodeAgreed(bytes);
  const [verifyKey, rest] = take(others, HASH_BYTES);
  return { ...agreed, verifyKey, rest };
}

/** The number of reports that a server has counted, and a hash over them. */
export interface Counted {
  readonly received: number;
  readonly reports: Uint8Array;
}

/** The request to finish a window in which the leader has counted these reports. */
export function encodeFinish(agreed: Agreed, { received, reports }: Counted): Uint8Array {
  const count = Buffer.alloc(COUNT_BYTES);
  count.writeDoubleLE(received);
  return Buffer.concat([encodeAgreed(agreed), reports, count]);
}

/** Reads the request to finish a window; throws `bad-encoding` if it has the wrong length. */
export function decodeFinish(bytes: Uint8Array): Agreed & Counted {
  const { rest, ...agreed } = decodeAgreed(bytes);
  if (rest.length !== HASH_BYTES + COUNT_BYTES) {
    throw new LetheError("bad-encoding", "a request to finish a window has the wrong length");
  }
  const received = Buffer.from(rest).readDoubleLE(HASH_BYTES);
  return { ...agreed, reports: rest.subarray(0, HASH_BYTES), received };
}

/** Reads the reports of a job. */
export function decodeJobEntries(rest: Uint8Array, { group, half, verifier }: JobSizes): JobEntry[] {
  return rowsOf(rest, [DEVICE_BYTES, group, REPORT_ID_BYTES, half, verifier]).map(
    ([device, groupByte, report, halfOf, leaderVerifier]) =>
      ({ device, groupByte, report, half: halfOf, leaderVerifier }) as JobEntry,
  );
}

/** What a job carries for each report of a task. */
export function jobSizesOf({ manifest, layout }: TwoServerTask): JobSizes {
  return {
    group: manifest.groups ? 1 : 0,
    half: halfBytes(layout, "helper") + WRAPPING_BYTES,
    verifier: verifierBytes(layout.map(({ statistic }) => statistic)),
  };
}

/** The byte of a group, as a job and a digest have it. */
export function groupByteOf({ manifest }: TwoServerTask, group: number): Uint8Array {
  return manifest.groups ? Uint8Array.of(group) : new Uint8Array();
}

/** The answer to a job: the helper's verifiers, in the order of the reports. */
export function encodeVerifiers(verifiers: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(verifiers);
}

/** Reads `count` verifiers of `width` bytes; throws `bad-encoding` if there are more or fewer. */
export function decodeVerifiers(bytes: Uint8Array, count: number, width: number): Uint8Array[] {
  const rows = rowsOf(bytes, [width]);
  if (rows.length !== count)
    throw new LetheError("bad-encoding", "the helper's answer does not have one verifier per report");
  return rows.map(([verifier]) => verifier as Uint8Array);
}

/**
 * A digest of a report that both servers can compute: of its device, its group if there are groups, its id, and the
 * helper's half. So servers that agree on the digests have counted every report in the same group.
 */
export function digestOf({
  device,
  groupByte,
  report,
  half,
}: Pick<JobEntry, "device" | "groupByte" | "report" | "half">): Uint8Array {
  return createHash("sha256").update(device).update(groupByte).update(report).update(half).digest();
}

function take(bytes: Uint8Array, length: number): [Uint8Array, Uint8Array] {
  if (bytes.length < length) throw new LetheError("bad-encoding", "a message between servers is too short");
  return [bytes.subarray(0, length), bytes.subarray(length)];
}

function rowsOf(bytes: Uint8Array, widths: readonly number[]): Uint8Array[][] {
  const width = widths.reduce((sum, each) => sum + each, 0);
  if (bytes.length % width !== 0)
    throw new LetheError("bad-encoding", "a message between servers has the wrong length");
  return Array.from({ length: bytes.length / width }, (_, row) => {
    let at = row * width;
    return widths.map((each) => {
      at += each;
      return bytes.subarray(at - each, at);
    });
  });
}
