import { createHash } from "node:crypto";
import { brotliCompressSync, constants, deflateSync } from "node:zlib";
import { oneBits } from "../arithmetic/one-bits.ts";

/** A number computed from all versions of a record that a disk kept, in the order in which they were written. */
export type VersionDistinguisher = (versions: readonly Uint8Array[]) => number;

/** What an intruder would try first. None of these knows what the bytes mean. */
export const VERSION_DISTINGUISHERS: Readonly<Record<string, VersionDistinguisher>> = {
  "equal versions": (versions) => versions.length - new Set(versions.map(hash)).size,
  "equal bytes": (versions) => meanOf(differences(versions), zeros),
  "equal bits": (versions) => meanOf(differences(versions), (bytes) => 8 * bytes.length - ones(bytes)),
  ones: (versions) => meanOf(versions, ones),
  entropy: (versions) => meanOf(versions, entropy),
  "entropy of differences": (versions) => meanOf(differences(versions), entropy),
  compressed: (versions) => meanOf(versions, (bytes) => deflateSync(bytes).length),
  "compressed together": (versions) => brotliCompressSync(Buffer.concat(versions), FAR).length,
};

/** Deflate looks back 32 KiB only, less than a record. */
const FAR = { params: { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_LGWIN]: 22 } };

/** Of each version and the one before, bit by bit. */
function differences(versions: readonly Uint8Array[]): Uint8Array[] {
  return versions.slice(1).map((bytes, i) => bytes.map((byte, j) => byte ^ (versions[i]?.[j] ?? 0)));
}

const hash = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

function meanOf(versions: readonly Uint8Array[], f: (bytes: Uint8Array) => number): number {
  return versions.reduce((sum, bytes) => sum + f(bytes), 0) / Math.max(1, versions.length);
}

function zeros(bytes: Uint8Array): number {
  return bytes.reduce((sum, byte) => sum + (byte === 0 ? 1 : 0), 0);
}

function ones(bytes: Uint8Array): number {
  return bytes.reduce((sum, byte) => sum + oneBits(byte), 0);
}

/** In bits per byte. */
function entropy(bytes: Uint8Array): number {
  const counts = new Uint32Array(256);
  for (const byte of bytes) counts[byte] = (counts[byte] as number) + 1;
  return counts.reduce((sum, n) => sum - (n > 0 ? (n / bytes.length) * Math.log2(n / bytes.length) : 0), 0);
}
