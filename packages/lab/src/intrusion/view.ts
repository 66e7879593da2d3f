import { oneBits } from "../arithmetic/one-bits.ts";

/** A version that was stored. */
interface Version {
  /** Its bytes up to the end of its ciphertexts. */
  readonly bytes: Uint8Array;
  /** Its whole size, if there is more. */
  readonly size?: number;
  /** When it was written, as a share of the tick. */
  readonly at: number;
}

/** What an intruder sees of one segment of a device, or of one tick. */
export interface View {
  /** The version that was stored last when the segment began. */
  readonly before: Uint8Array;
  /** The ciphertexts in memory at one moment, after the events and before the write. */
  readonly dump: Uint8Array;
  /** The versions that were stored in the segment. */
  readonly stored: readonly Version[];
  /** What ciphertexts consist of, which everybody knows: coefficients of 25 bits, or group elements of 32 bytes. */
  readonly parts: "coefficients" | "elements";
  /** The mean square of the noise, if the intruder has the key. */
  readonly noise?: number;
}

/** Numbers that an intruder could look at, one at a time. */
export const MEASURES = [
  "sizes",
  "times",
  "equal bytes",
  "equal bits",
  "ones",
  "entropy",
  "entropy of differences",
  "dump against storage",
  "equal parts",
  "noise",
] as const;
/** One of the numbers. */
export type Measure = (typeof MEASURES)[number];

const NIBBLES = 16;
const HEAD_BYTES = 16;
/**
 * How many numbers a view has: the measures, two more about the dump, how often each half byte occurs in two places,
 * and the first bytes.
 */
export const FEATURES: number = MEASURES.length + 2 + 2 * NIBBLES + HEAD_BYTES;

/** Writes all features of a view into an array, from `at` on. */
export function measure(view: View, into: Float32Array, at: number): void {
  const { before, dump, stored } = view;
  const last = stored.at(-1)?.bytes ?? before;
  const { dumpBefore, afterDump } = count(before, dump, last);
  const alone = spectrumOf(bytesOfLast);
  const changes = spectrumOf(bytesOfChanges);
  const values: Record<Measure, number> = {
    sizes: stored.reduce((sum, { bytes, size }) => sum + (size ?? bytes.length), 0),
    times: stored.reduce((sum, { at: time }) => sum + time, 0),
    "equal bytes": bytesOfChanges[0] as number,
    "equal bits": -changes.ones,
    ones: alone.ones,
    entropy: alone.entropy,
    "entropy of differences": changes.entropy,
    "dump against storage": Math.max(dumpBefore.equalBytes, afterDump.equalBytes),
    "equal parts": equalParts(view, dump, before) + equalParts(view, last, dump),
    noise: view.noise ?? 0,
  };
  let to = at;
  for (const name of MEASURES) into[to++] = values[name];
  into[to++] = dumpBefore.differentBits;
  into[to++] = afterDump.differentBits;
  for (const { nibbles } of [alone, changes]) {
    into.set(nibbles, to);
    to += NIBBLES;
  }
  for (let i = 0; i < HEAD_BYTES; i++) into[to++] = last[i] ?? 0;
}

/** How often each byte occurs in the last version, and in its difference from the one before. */
const bytesOfLast = new Uint32Array(256);
const bytesOfChanges = new Uint32Array(256);

interface Agreement {
  readonly equalBytes: number;
  readonly differentBits: number;
}

/**
 * Compares all three bit by bit, aligned at the end, because stored versions begin with a header that the dump lacks.
 * In one pass and by words of four bytes, of which ciphertexts consist, because there are hundreds of thousands of
 * views.
 */
function count(before: Uint8Array, dump: Uint8Array, last: Uint8Array): Record<"dumpBefore" | "afterDump", Agreement> {
  bytesOfLast.fill(0);
  bytesOfChanges.fill(0);
  const length = Math.min(before.length, last.length);
  const common = 4 * Math.floor(Math.min(length, dump.length) / 4);
  for (let left = length; left > common; left--) {
    countByte(last[last.length - left] as number, before[before.length - left] as number);
  }
  const [inBefore, inDump, inLast] = [endOf(before, common), endOf(dump, common), endOf(last, common)];
  let [equalBefore, bitsBefore, equalAfter, bitsAfter] = [0, 0, 0, 0];
  for (let at = 0; at < common; at += 4) {
    const old = inBefore.getUint32(at);
    const memory = inDump.getUint32(at);
    const stored = inLast.getUint32(at);
    countByte(stored >>> 24, old >>> 24);
    countByte((stored >>> 16) & 0xff, (old >>> 16) & 0xff);
    countByte((stored >>> 8) & 0xff, (old >>> 8) & 0xff);
    countByte(stored & 0xff, old & 0xff);
    equalBefore += zeroBytes(memory ^ old);
    equalAfter += zeroBytes(memory ^ stored);
    bitsBefore += oneBits(memory ^ old);
    bitsAfter += oneBits(memory ^ stored);
  }
  return {
    dumpBefore: { equalBytes: equalBefore, differentBits: bitsBefore },
    afterDump: { equalBytes: equalAfter, differentBits: bitsAfter },
  };
}

function endOf(bytes: Uint8Array, length: number): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset + bytes.length - length, length);
}

function countByte(stored: number, old: number): void {
  bytesOfLast[stored] = (bytesOfLast[stored] as number) + 1;
  bytesOfChanges[stored ^ old] = (bytesOfChanges[stored ^ old] as number) + 1;
}

/**
 * How many of a word's four bytes are zero: those whose highest bit is clear, also after 127 is added to their other
 * seven.
 */
function zeroBytes(word: number): number {
  return oneBits(~(((word & 0x7f7f7f7f) + 0x7f7f7f7f) | word | 0x7f7f7f7f));
}

interface Spectrum {
  readonly ones: number;
  /** In bits per byte. */
  readonly entropy: number;
  /** How often each value of the upper half byte occurs. */
  readonly nibbles: Uint32Array;
}

/** A table of n·log₂ n: computing logarithms would take longer than all else. */
const INFORMATION = Float64Array.from({ length: 1024 }, (_, n) => (n === 0 ? 0 : n * Math.log2(n)));

function spectrumOf(counts: Uint32Array): Spectrum {
  let [total, ones, information] = [0, 0, 0];
  const nibbles = new Uint32Array(NIBBLES);
  for (let byte = 0; byte < 256; byte++) {
    const n = counts[byte] as number;
    total += n;
    ones += n * oneBits(byte);
    information += n < INFORMATION.length ? (INFORMATION[n] as number) : n * Math.log2(n);
    nibbles[byte >> 4] = (nibbles[byte >> 4] as number) + n;
  }
  return { ones, entropy: total === 0 ? 0 : Math.log2(total) - information / total, nibbles };
}

/**
 * How many parts of two vectors of ciphertexts are equal; coefficients count as equal if they differ by at most as much
 * as fresh noise.
 */
function equalParts({ parts }: View, a: Uint8Array, b: Uint8Array): number {
  return parts === "elements" ? equalElements(a, b) : nearCoefficients(a, b);
}

const ELEMENT_BYTES = 32;

function equalElements(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  let equal = 0;
  for (let end = 0; end + ELEMENT_BYTES <= length; end += ELEMENT_BYTES) {
    let i = 1;
    while (i <= ELEMENT_BYTES && a[a.length - end - i] === b[b.length - end - i]) i++;
    if (i > ELEMENT_BYTES) equal++;
  }
  return equal;
}

const COEFFICIENT_BITS = 25;
const MODULUS = 2 ** COEFFICIENT_BITS;
/** Four standard deviations of an encryption's noise. */
const NEAR = 512;

function nearCoefficients(a: Uint8Array, b: Uint8Array): number {
  // Eight of them at a time fill whole bytes.
  const bytes = COEFFICIENT_BITS * Math.floor(Math.min(a.length, b.length) / COEFFICIENT_BITS);
  const coefficients = (8 * bytes) / COEFFICIENT_BITS;
  const [ofA, ofB] = [endOf(a, bytes), endOf(b, bytes)];
  let near = 0;
  for (let i = 0; i < coefficients; i++) {
    const bit = i * COEFFICIENT_BITS;
    const difference = (wordAt(ofA, bit) - wordAt(ofB, bit) + NEAR) & (MODULUS - 1);
    if (difference <= 2 * NEAR) near++;
  }
  return near;
}

/** The coefficient that begins at a bit, in the low bits of a word. */
function wordAt(bytes: DataView, bit: number): number {
  return bytes.getUint32(bit >> 3, true) >>> (bit & 7);
}
