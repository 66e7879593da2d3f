import { isSameBytes } from "../bytes.ts";
import { LetheError } from "../error.ts";
import { HASH_BYTES } from "../message/manifest.ts";
import { bytesOfParts, decodeParts, encodeParts } from "../message/parts.ts";
import { KEYS } from "../sharing/share-keys.ts";
import type { ServerRole } from "../sharing/shared-bit.ts";
import { halfBytes, type TwoServerStatistics } from "./task-layout.ts";
import { REPORT_ID_BYTES, WRAPPING_BYTES, WRAPPING_KEY_BYTES } from "./wrapping.ts";

const POINT_BYTES = 32;

const SHARE_KEYS = { what: "a server's keys for shares", kind: 0x4c, preamble: 0 } as const;

/** What a device encrypts under for one of two servers. */
export interface ShareKeys {
  readonly shareKeys: Uint8Array;
  /** The server's for the window: the same for all devices. */
  readonly wrappingKey: Uint8Array;
}

const keyLengths = (role: ServerRole): readonly number[] => [KEYS[role] * POINT_BYTES, WRAPPING_KEY_BYTES];

/** As the server signs them. */
export function encodeShareKeys({ shareKeys, wrappingKey }: ShareKeys): Uint8Array {
  return encodeParts(SHARE_KEYS, new Uint8Array(), [shareKeys, wrappingKey]);
}

/** How many bytes that has. */
export function shareKeysBytes(role: ServerRole): number {
  return bytesOfParts(SHARE_KEYS, keyLengths(role));
}

/** Its inverse; anything else is a `bad-encoding` error. */
export function decodeShareKeys(role: ServerRole, bytes: Uint8Array): ShareKeys {
  const [shareKeys, wrappingKey] = decodeParts(SHARE_KEYS, keyLengths(role), bytes).parts as [Uint8Array, Uint8Array];
  return { shareKeys, wrappingKey };
}

const REPORT = { what: "a report for two servers", kind: 0x54, preamble: HASH_BYTES } as const;

/**
 * What a device sends to the leader: for the manifest with this hash, the report's id and each server's wrapped half.
 */
export interface TwoServerReport extends Readonly<Record<ServerRole, Uint8Array>> {
  /** Random bytes, made when the report is sealed. */
  readonly reportId: Uint8Array;
}

const reportLengths = (layout: TwoServerStatistics): number[] => [
  REPORT_ID_BYTES,
  halfBytes(layout, "leader") + WRAPPING_BYTES,
  halfBytes(layout, "helper") + WRAPPING_BYTES,
];

/** Every report of a task of two servers has this many bytes. */
export function twoServerReportBytes(layout: TwoServerStatistics): number {
  return bytesOfParts(REPORT, reportLengths(layout));
}

/** What a device sends. */
export function encodeTwoServerReport(
  manifestHash: Uint8Array,
  { reportId, leader, helper }: TwoServerReport,
): Uint8Array {
  return encodeParts(REPORT, manifestHash, [reportId, leader, helper]);
}

/** Only what everybody can see is checked: size, version, kind, manifest. */
export function decodeTwoServerReport(
  layout: TwoServerStatistics,
  manifestHash: Uint8Array,
  bytes: Uint8Array,
): TwoServerReport {
  const { preamble, parts } = decodeParts(REPORT, reportLengths(layout), bytes);
  if (!isSameBytes(preamble, manifestHash)) {
    throw new LetheError("bad-encoding", "this report was made for another manifest");
  }
  const [reportId, leader, helper] = parts as [Uint8Array, Uint8Array, Uint8Array];
  return { reportId, leader, helper };
}
