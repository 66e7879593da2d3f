import {
  DEVICE_BYTES,
  decodeBase64urlOf,
  encodeBase64url,
  headerOf,
  join,
  lengthPrefixed,
  requireHeader,
  xof,
} from "@lethe/core/device";
import { requireLength, requireWhole } from "@lethe/core/error";

/** A window that a device is enrolled in: first with its keys, then with ciphertexts, at last with a sealed report. */
export interface StoredWindow {
  readonly window: number;
  /** Which of the record's manifests it runs under. */
  readonly manifest: number;
  readonly device: Uint8Array;
  readonly token: string;
  /** Number of the tick in which the last write was made; -1 before the first. */
  readonly tick: number;
  /** From when it is sealed on, random bytes that name the report on this device alone; empty if an older SDK sealed. */
  readonly publicKeys: Uint8Array;
  /** Empty before the first write, and from when it is sealed on. */
  readonly state: Uint8Array;
  /** Empty until it is sealed. */
  readonly report: Uint8Array;
}

/** Everything a device keeps for a task, written together. */
export interface DeviceRecord {
  /** The last window that it enrolled in: it never enrols twice in one. */
  readonly last: number;
  /** Signed, as they were sent. */
  readonly manifests: readonly string[];
  readonly windows: readonly StoredWindow[];
}

const KIND_RECORD = 0x44;
const HEADER_BYTES = 6;

/** A window in the record's head: what is short, and the lengths of what is not. */
type Head = readonly [
  last: number,
  manifests: readonly string[],
  windows: readonly (readonly [
    window: number,
    manifest: number,
    device: string,
    token: string,
    tick: number,
    publicKeys: number,
    state: number,
    report: number,
  ])[],
];

/**
 * Version, kind, length of the head, 32 bits, little-endian; the head; keys, states and reports end to end; zeros up to
 * a multiple of `block`. So the size does not change from one write to the next. The head names metrics, since it holds
 * the manifest: it is masked, so that no search of a disk finds them. That hides nothing from who knows the operator's
 * key, which is public.
 */
export function encodeRecord(
  { last, manifests, windows }: DeviceRecord,
  operatorKey: string,
  block: number,
): Uint8Array {
  const head: Head = [
    last,
    manifests,
    windows.map(({ window, manifest, device, token, tick, publicKeys, state, report }) => {
      return [window, manifest, encodeBase64url(device), token, tick, publicKeys.length, state.length, report.length];
    }),
  ];
  const text = masked(new TextEncoder().encode(JSON.stringify(head)), operatorKey);
  const parts = windows.flatMap(({ publicKeys, state, report }) => [publicKeys, state, report]);
  const filled = join([headerOf(KIND_RECORD), ...lengthPrefixed([text]), ...parts]);
  const bytes = new Uint8Array(Math.ceil(filled.length / block) * block);
  bytes.set(filled);
  return bytes;
}

/** Throws for whatever is not a record under this operator's key. */
export function decodeRecord(bytes: Uint8Array, operatorKey: string): DeviceRecord {
  requireHeader("a record", bytes, KIND_RECORD);
  let at = HEADER_BYTES;
  const take = (length: number): Uint8Array => {
    const part = bytes.slice(at, at + length);
    requireLength("a record", part, length);
    at += length;
    return part;
  };
  const length = new DataView(bytes.buffer, bytes.byteOffset, bytes.length).getUint32(2, true);
  const text = new TextDecoder("utf-8", { fatal: true }).decode(masked(take(length), operatorKey));
  const [last, manifests, windows] = JSON.parse(text) as Head;
  return {
    last: whole(last),
    manifests: manifests.map(String),
    windows: windows.map(([window, manifest, device, token, tick, publicKeys, state, report]) => ({
      window: whole(window),
      manifest: whole(manifest),
      device: decodeBase64urlOf("device", DEVICE_BYTES, device),
      token: String(token),
      tick: whole(tick),
      publicKeys: take(publicKeys),
      state: take(state),
      report: take(report),
    })),
  };
}

function whole(value: number): number {
  requireWhole("a record", value, -1, Number.MAX_SAFE_INTEGER);
  return value;
}

function masked(bytes: Uint8Array, operatorKey: string): Uint8Array {
  const mask = new Uint8Array(bytes.length);
  xof("lethe device record", new TextEncoder().encode(operatorKey))(mask);
  return mask.map((byte, i) => byte ^ (bytes[i] as number));
}
