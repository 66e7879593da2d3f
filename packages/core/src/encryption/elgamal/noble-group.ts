import { bytesToNumberBE, bytesToNumberLE, numberToBytesLE } from "@noble/curves/utils.js";
import { split } from "../../bytes.ts";
import { requireLength } from "../../error.ts";
import type { RistrettoGroup } from "./group.ts";
import {
  BASE,
  decodePoint,
  decodePointOrStandIn,
  IDENTITY,
  ORDER,
  POINT_BYTES,
  type RistrettoPoint,
  STAND_IN,
} from "./ristretto.ts";

/**
 * The group in JavaScript, on `@noble/curves`. JavaScript's integers are not constant-time; noble's `multiply` takes a
 * fixed number of additions for every scalar, which narrows what timing shows but does not close it. Nor can they be
 * overwritten: `wipe` does nothing.
 */
export const nobleGroup: RistrettoGroup = {
  reduce: (wide) => scalarBytes(bytesToNumberBE(wide) % ORDER),
  multiplyBase: (scalar) => BASE.multiply(bytesToNumberLE(scalar)).toBytes(),
  unmask: (scalars, bytes) => {
    requireLength("a ciphertext", bytes, (1 + scalars.length) * POINT_BYTES);
    const [ephemeral, ...masked] = split(bytes, 1 + scalars.length).map(decodePointOrStandIn) as [
      Decoded,
      ...Decoded[],
    ];
    // Multiplying 0·G is faster, because its coordinates are zero, so it is not done.
    const isTrivial = ephemeral.point.is0();
    const factor = isTrivial ? STAND_IN : ephemeral.point;
    const elements = masked.map(({ point }, i) => {
      const product = factor.multiply(bytesToNumberLE(scalars[i] as Uint8Array));
      return encode(point.subtract(isTrivial ? IDENTITY : product));
    });
    const decoded = masked.reduce((others, point) => point.decoded && others, ephemeral.decoded);
    return { elements, decoded, isTrivial };
  },
  walk: (start, step, count) => {
    if (count === 1) return [start];
    let point = decodePoint(start);
    const by = decodePoint(step);
    return Array.from({ length: count }, (_, i) => {
      if (i > 0) point = point.add(by);
      return encode(point);
    });
  },
  subtract: (left, right) => encode(decodePoint(left).subtract(decodePoint(right))),
  wipe: () => undefined,
};

type Decoded = ReturnType<typeof decodePointOrStandIn>;

/** A number below the order as the bytes of a scalar. */
export function scalarBytes(scalar: bigint): Uint8Array {
  return numberToBytesLE(scalar, POINT_BYTES);
}

/** Encoding 0·G is faster, because its coordinates are zero, so another is encoded beside it. */
function encode(point: RistrettoPoint): Uint8Array {
  const isIdentity = point.is0();
  const bytes = (isIdentity ? STAND_IN : point).toBytes();
  return isIdentity ? new Uint8Array(POINT_BYTES) : bytes;
}
