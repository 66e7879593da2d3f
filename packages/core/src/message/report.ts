import { isSameBytes } from "../bytes.ts";
import { LetheError } from "../error.ts";
import type { DeviceSides } from "./layout.ts";
import { HASH_BYTES } from "./manifest.ts";
import { bytesOfParts, decodeParts, encodeParts } from "./parts.ts";

const REPORT = { what: "a report", kind: 0x52, preamble: HASH_BYTES } as const;

const lengthsOf = (layout: DeviceSides): number[] => layout.map(({ device }) => device.bytes.report);

/** Every report of a task has this many bytes. */
export function reportBytes(layout: DeviceSides): number {
  return bytesOfParts(REPORT, lengthsOf(layout));
}

/** What a device sends: the sealed parts of all its statistics, for the manifest with this hash. */
export function encodeReport(manifestHash: Uint8Array, sealed: readonly Uint8Array[]): Uint8Array {
  return encodeParts(REPORT, manifestHash, sealed);
}

/** The sealed parts. Only what everybody can see is checked: size, version, kind, manifest. */
export function decodeReport(layout: DeviceSides, manifestHash: Uint8Array, bytes: Uint8Array): Uint8Array[] {
  const { preamble, parts } = decodeParts(REPORT, lengthsOf(layout), bytes);
  if (!isSameBytes(preamble, manifestHash)) {
    throw new LetheError("bad-encoding", "this report was made for another manifest");
  }
  return parts;
}
