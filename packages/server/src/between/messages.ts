import { createHash } from "node:crypto";
import { LetheError } from "@lethe/core/error";
import { DEVICE_BYTES, SIGNATURE_BYTES } from "@lethe/core/message";
import { REPORT_ID_BYTES, shareKeysBytes } from "@lethe/core/two-server";

const HASH_BYTES = 32;
const COUNT_BYTES = 8;
const HELPER_KEYS_BYTES = shareKeysBytes("helper");
const LEADER_KEYS_BYTES = shareKeysBytes("leader");

/** A helper's keys for a device, with its signature. */
export interface HelperKeys {
  readonly publicKeys: Uint8Array;
  readonly signature: Uint8Array;
}

/** As the pool keeps them: the leader's keys, then the helper's and its signature. */
export function packHelperKeys(leaderKeys: Uint8Array, { publicKeys, signature }: HelperKeys): Uint8Array {
  return Buffer.concat([leaderKeys, publicKeys, signature]);
}

export function unpackHelperKeys(packed: Uint8Array): { readonly leaderKeys: Uint8Array } & HelperKeys {
  const end = LEADER_KEYS_BYTES + HELPER_KEYS_BYTES;
  return {
    leaderKeys: packed.subarray(0, LEADER_KEYS_BYTES),
    publicKeys: packed.subarray(LEADER_KEYS_BYTES, end),
    signature: packed.subarray(end),
  };
}

/** One report of a job: what the helper is to open, and what the leader found. */
export interface JobEntry {
  readonly device: Uint8Array;
  readonly report: Uint8Array;
  readonly half: Uint8Array;
  readonly leaderVerifier: Uint8Array;
}

/** The sizes of what a job carries for each report. */
export interface JobSizes {
  readonly half: number;
  readonly verifier: number;
}

/** What the leader takes a window to be, before anything is asked about it. */
export interface Agreed {
  readonly manifestHash: Uint8Array;
  /** To the helper's secret for the window; all zeros if the helper has made no keys yet. */
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

export function encodeKeysRequest(agreed: Agreed, devices: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat([encodeAgreed(agreed), ...devices]);
}

export function decodeKeysRequest(bytes: Uint8Array): Agreed & { readonly devices: Uint8Array[] } {
  const { rest, ...agreed } = decodeAgreed(bytes);
  return { ...agreed, devices: rowsOf(rest, [DEVICE_BYTES]).map(([device]) => device as Uint8Array) };
}

/** Keys for devices, and a commitment to the secret that they are made from. */
export interface IssuedHelperKeys {
  readonly helperCommitment: Uint8Array;
  readonly keys: readonly HelperKeys[];
}

export function encodeKeys({ helperCommitment, keys }: IssuedHelperKeys): Uint8Array {
  return Buffer.concat([helperCommitment, ...keys.flatMap(({ publicKeys, signature }) => [publicKeys, signature])]);
}

export function decodeKeys(bytes: Uint8Array, count: number): IssuedHelperKeys {
  const [helperCommitment, rest] = take(bytes, HASH_BYTES);
  const rows = rowsOf(rest, [HELPER_KEYS_BYTES, SIGNATURE_BYTES]);
  if (rows.length !== count) throw new LetheError("bad-encoding", "the helper's keys are not one for every device");
  return { helperCommitment, keys: rows.map(([publicKeys, signature]) => ({ publicKeys, signature }) as HelperKeys) };
}

/** `verifyKey` is a commitment to it. */
export function encodeJob(
  { verifyKey, ...agreed }: Agreed & { readonly verifyKey: Uint8Array },
  entries: readonly JobEntry[],
): Uint8Array {
  const rows = entries.flatMap(({ device, report, half, leaderVerifier }) => [device, report, half, leaderVerifier]);
  return Buffer.concat([encodeAgreed(agreed), verifyKey, ...rows]);
}

/** What a job stands on, before its reports are looked at. */
export function decodeJobHead(
  bytes: Uint8Array,
): Agreed & { readonly verifyKey: Uint8Array; readonly rest: Uint8Array } {
  const { rest: others, ...agreed } = decodeAgreed(bytes);
  const [verifyKey, rest] = take(others, HASH_BYTES);
  return { ...agreed, verifyKey, rest };
}

/** Which reports a server has counted. */
export interface Counted {
  readonly received: number;
  readonly reports: Uint8Array;
}

export function encodeFinish(agreed: Agreed, { received, reports }: Counted): Uint8Array {
  const count = Buffer.alloc(COUNT_BYTES);
  count.writeDoubleLE(received);
  return Buffer.concat([encodeAgreed(agreed), reports, count]);
}

export function decodeFinish(bytes: Uint8Array): Agreed & Counted {
  const { rest, ...agreed } = decodeAgreed(bytes);
  if (rest.length !== HASH_BYTES + COUNT_BYTES) {
    throw new LetheError("bad-encoding", "this is not how a window is finished");
  }
  const received = Buffer.from(rest).readDoubleLE(HASH_BYTES);
  return { ...agreed, reports: rest.subarray(0, HASH_BYTES), received };
}

export function decodeJobEntries(rest: Uint8Array, { half, verifier }: JobSizes): JobEntry[] {
  return rowsOf(rest, [DEVICE_BYTES, REPORT_ID_BYTES, half, verifier]).map(
    ([device, report, halfOf, leaderVerifier]) => ({ device, report, half: halfOf, leaderVerifier }) as JobEntry,
  );
}

export function encodeVerifiers(verifiers: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(verifiers);
}

export function decodeVerifiers(bytes: Uint8Array, count: number, width: number): Uint8Array[] {
  const rows = rowsOf(bytes, [width]);
  if (rows.length !== count)
    throw new LetheError("bad-encoding", "the helper's verifiers are not one for every report");
  return rows.map(([verifier]) => verifier as Uint8Array);
}

/** Names a report as both servers know it: its device, its id, and the half that is the helper's. */
export function digestOf(device: Uint8Array, report: Uint8Array, half: Uint8Array): Uint8Array {
  return createHash("sha256").update(device).update(report).update(half).digest();
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
