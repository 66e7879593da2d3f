import type { Choose } from "./choose.ts";

/** Numbers at the edges of types and of what programs compute with them. */
const EDGES = [0, 1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 33, 63, 64, 127, 128, 255, 256, 1023, 1024, 4095, 4096, 32_767];
const LARGE_EDGES = [2 ** 16 - 1, 2 ** 16, 2 ** 24, 2 ** 28, 2 ** 29, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 16, 2 ** 32 - 1];

/** Inputs grow to this at most, so that a hundred thousand of them take seconds. */
const MOST_BYTES = 1 << 17;

type Edit = (bytes: Uint8Array, choose: Choose, examples: readonly Uint8Array[]) => Uint8Array;

function copyWith(bytes: Uint8Array, change: (copy: Uint8Array) => void): Uint8Array {
  const copy = bytes.slice();
  if (copy.length > 0) change(copy);
  return copy;
}

function joined(...parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

function randomBytes(length: number, choose: Choose): Uint8Array {
  return Uint8Array.from({ length }, () => choose.below(256));
}

/** The beginning is where headers and lengths are, so half of all places are there. */
function place({ length }: Uint8Array, choose: Choose): number {
  return choose.below(choose.chance(0.5) ? Math.min(length, 64) : length);
}

/** What could stand in a length field at this place: an edge, what is left, or a little more or less. */
function lengthAt({ length }: Uint8Array, at: number, found: number, choose: Choose): number {
  const near = choose.below(5) - 2;
  const candidates = [choose.oneOf(EDGES), choose.oneOf(LARGE_EDGES), length, length - at, found * 2];
  return choose.oneOf([choose.oneOf(candidates), found + near, choose.oneOf(candidates) + near]);
}

function editLength(bytes: Uint8Array, choose: Choose): Uint8Array {
  const width = choose.oneOf([1, 2, 4, 4, 8]);
  if (bytes.length < width) return bytes;
  return copyWith(bytes, (copy) => {
    const view = new DataView(copy.buffer);
    const at = Math.min(place(copy, choose), copy.length - width);
    const little = choose.chance(0.5);
    if (width === 1) view.setUint8(at, lengthAt(copy, at, view.getUint8(at), choose));
    if (width === 2) view.setUint16(at, lengthAt(copy, at, view.getUint16(at, little), choose), little);
    if (width === 4) view.setUint32(at, lengthAt(copy, at, view.getUint32(at, little), choose), little);
    if (width === 8) {
      const double = choose.oneOf([Number.NaN, Number.POSITIVE_INFINITY, -1, -0, 0.5, 2 ** 53, 2 ** 32, copy.length]);
      view.setFloat64(at, double, little);
    }
  });
}

/** Any value, because no edge is special to a byte that names something. */
function setByte(bytes: Uint8Array, choose: Choose): Uint8Array {
  return copyWith(bytes, (copy) => {
    copy[place(copy, choose)] = choose.below(256);
  });
}

const EDITS: readonly Edit[] = [
  // One bit, some bits, a byte, a run of bytes.
  (bytes, choose) =>
    copyWith(bytes, (copy) => {
      const at = place(copy, choose);
      copy[at] = (copy[at] as number) ^ (1 << choose.below(8));
    }),
  (bytes, choose) =>
    copyWith(bytes, (copy) => {
      for (let i = choose.below(16); i >= 0; i--) {
        const at = choose.below(copy.length);
        copy[at] = (copy[at] as number) ^ (1 << choose.below(8));
      }
    }),
  setByte,
  setByte,
  setByte,
  (bytes, choose) =>
    copyWith(bytes, (copy) => {
      const from = place(copy, choose);
      copy.fill(choose.oneOf([0, 255, 127, 128, choose.below(256)]), from, from + 1 + choose.below(40));
    }),
  // Shorter and longer, by one byte as often as by many.
  (bytes, choose) => bytes.slice(0, choose.chance(0.5) ? -1 : choose.below(bytes.length + 1)),
  (bytes, choose) => bytes.slice(choose.chance(0.5) ? 1 : choose.below(bytes.length + 1)),
  (bytes, choose) => joined(bytes, randomBytes(choose.chance(0.5) ? 1 : choose.below(64), choose)),
  (bytes, choose) => joined(bytes, new Uint8Array(choose.oneOf([1, 2, 4, 8, 32, 64, 4096]))),
  (bytes, choose) => {
    const at = place(bytes, choose);
    return joined(bytes.subarray(0, at), randomBytes(1 + choose.below(8), choose), bytes.subarray(at));
  },
  (bytes, choose) => {
    const at = place(bytes, choose);
    return joined(bytes.subarray(0, at), bytes.subarray(at + 1 + choose.below(choose.oneOf([1, 8, 64]))));
  },
  editLength,
  editLength,
  editLength,
  // Of two valid inputs one begins and the other one ends.
  (bytes, choose, examples) => {
    const other = choose.oneOf(examples);
    const at = choose.below(bytes.length + 1);
    const from = choose.chance(0.7) ? at : choose.below(other.length + 1);
    return joined(bytes.subarray(0, at), other.subarray(from));
  },
  // A part over another part, a part twice, a part many times.
  (bytes, choose) =>
    copyWith(bytes, (copy) => {
      const from = choose.below(copy.length);
      copy.copyWithin(choose.below(copy.length), from, from + 1 + choose.below(64));
    }),
  (bytes, choose) => {
    const from = place(bytes, choose);
    const part = bytes.subarray(from, from + 1 + choose.below(64));
    return joined(bytes.subarray(0, from), part, bytes.subarray(from));
  },
  (bytes, choose) => {
    const from = place(bytes, choose);
    const part = bytes.subarray(from, from + 1 + choose.below(4));
    const times = 1 << choose.below(choose.chance(0.02) ? 17 : 8);
    return joined(bytes.subarray(0, from), ...Array<Uint8Array>(times).fill(part), bytes.subarray(from));
  },
];

/** One of the examples after one to eight edits. */
export function mutatedBytes(examples: readonly Uint8Array[], choose: Choose): Uint8Array {
  // A copy, also of a Buffer, whose parts would share its memory.
  let bytes = choose.chance(0.01) ? randomBytes(choose.below(200), choose) : new Uint8Array(choose.oneOf(examples));
  for (let edits = choose.oneOf([1, 1, 1, 2, 2, 3, 4, 8]); edits > 0; edits--) {
    bytes = choose.oneOf(EDITS)(bytes, choose, examples).subarray(0, MOST_BYTES);
  }
  return bytes;
}
