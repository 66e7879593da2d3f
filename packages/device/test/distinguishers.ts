import { createHash } from "node:crypto";
import { brotliCompressSync, constants, deflateSync } from "node:zlib";

/** A number that somebody computes from all versions of a record that a disk kept, in the order they were written. */
export type Distinguisher = (versions: readonly Uint8Array[]) => number;

/** What anybody would try first. None of them knows what the bytes mean. */
export const DISTINGUISHERS: Readonly<Record<string, Distinguisher>> = {
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

const ONES = Uint8Array.from({ length: 256 }, (_, byte) => byte.toString(2).replaceAll("0", "").length);

function ones(bytes: Uint8Array): number {
  return bytes.reduce((sum, byte) => sum + (ONES[byte] as number), 0);
}

/** Bits a byte. */
function entropy(bytes: Uint8Array): number {
  const counts = new Uint32Array(256);
  for (const byte of bytes) counts[byte] = (counts[byte] as number) + 1;
  return counts.reduce((sum, n) => sum - (n > 0 ? (n / bytes.length) * Math.log2(n / bytes.length) : 0), 0);
}

/**
 * Wilcoxon, Mann and Whitney: with which probability the sum of ranks would be as far from its mean as it is, or
 * farther, if which numbers are in `a` were chosen by lot. Exact, ties included: the distribution is that of the sum
 * over all choices of these very ranks. Never less than 2 / (a + b over a).
 */
export function rankSumProbability(a: readonly number[], b: readonly number[]): number {
  const all = [...a, ...b];
  const doubled = all.map((x) => 2 * all.filter((y) => y < x).length + all.filter((y) => y === x).length);
  const ways = waysBySum(doubled, a.length);
  const mean = (a.length * doubled.reduce((sum, rank) => sum + rank, 0)) / all.length;
  const found = Math.abs(doubled.slice(0, a.length).reduce((sum, rank) => sum + rank, 0) - mean);
  const total = ways.reduce((sum, n) => sum + n, 0);
  const far = ways.reduce((sum, n, rankSum) => sum + (Math.abs(rankSum - mean) >= found - 1e-9 ? n : 0), 0);
  return far / total;
}

/** How many choices of so many of the numbers have which sum. */
function waysBySum(numbers: readonly number[], chosen: number): Float64Array {
  const most = numbers.reduce((sum, x) => sum + x, 0);
  const ways = Array.from({ length: chosen + 1 }, () => new Float64Array(most + 1));
  (ways[0] as Float64Array)[0] = 1;
  let reached = 0;
  for (const x of numbers) {
    reached += x;
    for (let size = chosen; size > 0; size--) {
      const [to, from] = [ways[size] as Float64Array, ways[size - 1] as Float64Array];
      for (let sum = reached; sum >= x; sum--) to[sum] = (to[sum] as number) + (from[sum - x] as number);
    }
  }
  return ways[chosen] as Float64Array;
}
