import { LetheError, requireLength } from "../../error.ts";
import { packBits, packedBytes, unpackBits } from "./bit-packing.ts";
import type { LatticeCiphertext } from "./ciphertext.ts";
import { coefficient, type RingElement } from "./limbs.ts";
import { type LatticeParameters, LIMB_BITS, modulusBits } from "./parameters.ts";

/** How much of a ciphertext is sent: the rounding is part of the failure bound (`failure-bound.ts`). */
export interface CompactFormat {
  /** Bits kept of every coefficient of c₀; all of them are sent, for each takes part in opening each slot. */
  readonly c0Bits: number;
  /** Bits kept of the coefficients of c₁ that are read. */
  readonly c1Bits: number;
  /** The slots that the receiver reads, increasing; the others are not sent and open to nothing. */
  readonly reads: readonly number[];
}

/** The size of a compact ciphertext in a format that is checked first. */
export function compactBytes(parameters: LatticeParameters, format: CompactFormat): number {
  const { c0Bits, c1Bits, reads } = format;
  const { dimension } = parameters;
  for (const bits of [c0Bits, c1Bits]) {
    if (!Number.isInteger(bits) || bits < 1 || bits > modulusBits(parameters)) {
      throw new RangeError(`a coefficient keeps 1 to ${modulusBits(parameters)} bits, not ${bits}`);
    }
  }
  const increasing = reads.every(
    (slot, i) => Number.isInteger(slot) && slot > (reads[i - 1] ?? -1) && slot < dimension,
  );
  if (!increasing) throw new RangeError(`the slots to read increase, from 0 to at most ${dimension - 1}`);
  return sizeOf(parameters, format);
}

/** The same in a format that `choose.ts` made. */
export function sizeOf({ dimension }: LatticeParameters, { c0Bits, c1Bits, reads }: CompactFormat): number {
  const element = (count: number, bits: number) =>
    splitBits(bits).reduce((total, planeBits) => total + packedBytes(count, planeBits), 0);
  return element(dimension, c0Bits) + element(reads.length, c1Bits);
}

/**
 * Switches the modulus of c₀ to 2^c0Bits and of c₁ to 2^c1Bits, to the nearest, and packs the bits. One way: for
 * the last step before sending, after which nothing can be added any more. The format is one that `compactBytes` takes.
 */
export function encodeCompact(
  parameters: LatticeParameters,
  format: CompactFormat,
  { c0, c1 }: LatticeCiphertext,
): Uint8Array {
  const bytes = new Uint8Array(sizeOf(parameters, format));
  const offset = packTop(parameters, c0, format.c0Bits, undefined, bytes, 0);
  packTop(parameters, c1, format.c1Bits, format.reads, bytes, offset);
  return bytes;
}

/**
 * A ciphertext of the same scheme again, its low bits and its unread slots zero. Bits that only fill up a byte must be
 * zero, or the bytes are a `bad-encoding`.
 */
export function decodeCompact(
  parameters: LatticeParameters,
  format: CompactFormat,
  bytes: Uint8Array,
): LatticeCiphertext {
  const { ciphertext, clean } = compactDecoder(parameters, format)(bytes);
  if (!clean) throw new LetheError("bad-encoding", "the padding is not zero");
  return ciphertext;
}

/**
 * Decodes compact ciphertexts of one format, which is checked here, once. A ciphertext is valid until the next call,
 * which overwrites it. The work is the same for all bytes of the right length: where bits that only fill up a byte are
 * set, the ciphertext is that without them, and not clean.
 */
export function compactDecoder(
  parameters: LatticeParameters,
  format: CompactFormat,
): (bytes: Uint8Array) => { readonly ciphertext: LatticeCiphertext; readonly clean: boolean } {
  const size = compactBytes(parameters, format);
  const length = parameters.limbs * parameters.dimension;
  const every = Int32Array.from({ length: parameters.dimension }, (_, slot) => slot);
  const ofC0 = planesOf(parameters, format.c0Bits, every);
  const ofC1 = planesOf(parameters, format.c1Bits, Int32Array.from(format.reads));
  const ciphertext = { c0: new Int32Array(length), c1: new Int32Array(length) };

  return (bytes) => {
    requireLength("a compact lattice ciphertext", bytes, size);
    const first = unpackPlanes(ofC0, bytes, 0, ciphertext.c0);
    const second = unpackPlanes(ofC1, bytes, first.end, ciphertext.c1);
    return { ciphertext, clean: (first.stray | second.stray) === 0 };
  };
}

/** A value of more than 25 bits is packed as two planes, low bits first. */
function splitBits(bits: number): number[] {
  return bits <= LIMB_BITS ? [bits] : [bits - LIMB_BITS, LIMB_BITS];
}

/** `slots` says which coefficients; all of them if undefined. */
function packTop(
  parameters: LatticeParameters,
  element: RingElement,
  bits: number,
  slots: readonly number[] | undefined,
  into: Uint8Array,
  offset: number,
): number {
  const unit = 2 ** (modulusBits(parameters) - bits);
  const plane = new Int32Array(slots?.length ?? parameters.dimension);
  let at = offset;
  let weight = 1;
  for (const planeBits of splitBits(bits)) {
    const mask = 2 ** planeBits - 1;
    for (let j = 0; j < plane.length; j++) {
      const i = slots === undefined ? j : (slots[j] as number);
      const top = Math.floor(coefficient(parameters, element, i) / unit + 0.5);
      // Rounding up past the modulus wraps to 0: the mask keeps the low bits of any integer below 2⁵³.
      plane[j] = Math.floor(top / weight) & mask;
    }
    at = packBits(plane, planeBits, into, at);
    weight *= mask + 1;
  }
  return at;
}

/** Bits of some coefficients that are packed together. They are the top bits of a limb. */
interface Plane {
  readonly bits: number;
  /** Where in an element the limbs are. */
  readonly places: Int32Array;
  /** Scratch space for the packed values. */
  readonly values: Int32Array;
}

/** The last plane belongs to the top limb. */
function planesOf({ dimension, limbs }: LatticeParameters, bits: number, slots: Int32Array): Plane[] {
  return splitBits(bits).map((planeBits, i, { length }) => ({
    bits: planeBits,
    places: slots.map((slot) => slot + (limbs - length + i) * dimension),
    values: new Int32Array(slots.length),
  }));
}

/** Other limbs stay as they are. `stray` is 0 if the bits behind each plane's last value are. */
function unpackPlanes(
  planes: readonly Plane[],
  bytes: Uint8Array,
  offset: number,
  into: RingElement,
): { end: number; stray: number } {
  let end = offset;
  let stray = 0;
  for (const { bits, places, values } of planes) {
    end = unpackBits(bytes, end, bits, values);
    const bitsOfLast = (bits * values.length) & 7;
    if (bitsOfLast > 0) stray |= (bytes[end - 1] as number) >> bitsOfLast;
    for (let i = 0; i < values.length; i++) into[places[i] as number] = (values[i] as number) << (LIMB_BITS - bits);
  }
  return { end, stray };
}
