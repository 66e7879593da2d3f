import { FpInvertBatch } from "@noble/curves/abstract/modular.js";
import { ristretto255 } from "@noble/curves/ed25519.js";
import { bytesToNumberBE, bytesToNumberLE } from "@noble/curves/utils.js";
import { LetheError, requireLength } from "../../error.ts";
import type { Randomness } from "../../randomness/index.ts";

/** An element of Ristretto255 (RFC 9496), the group of prime order in which ElGamal works. */
export type RistrettoPoint = InstanceType<typeof ristretto255.Point>;

/** G. */
export const BASE: RistrettoPoint = ristretto255.Point.BASE;
/** ℓ, the number of elements. */
export const ORDER: bigint = ristretto255.Point.Fn.ORDER;
/** 0·G. */
export const IDENTITY: RistrettoPoint = ristretto255.Point.ZERO;
/** Takes the place of a point with which the same work would take less time. Not G: noble keeps tables for it. */
export const STAND_IN: RistrettoPoint = BASE.double();
const STAND_IN_BYTES = STAND_IN.toBytes();
const SQRT_OF_MINUS_ONE = ristretto255.Point.Fp.sqrt(ristretto255.Point.Fp.neg(1n));
/** The length of an encoded element. */
export const POINT_BYTES = 32;

/** What a scalar is reduced from. */
export const WIDE_BYTES = 64;

/** Accepts canonical encodings only (RFC 9496, §4.3.1); there is exactly one for every element. */
export function decodePoint(bytes: Uint8Array): RistrettoPoint {
  requireLength("a group element", bytes, POINT_BYTES);
  const { point, decoded } = decodePointOrStandIn(bytes);
  if (!decoded) throw new LetheError("bad-encoding", "these 32 bytes are not the encoding of a group element");
  return point;
}

/**
 * The element that 32 bytes encode, or another if they encode none. Either way a square root is taken, which is all the
 * work but for some microseconds of noble's exception where there is none.
 */
export function decodePointOrStandIn(bytes: Uint8Array): { point: RistrettoPoint; decoded: boolean } {
  const s = bytesToNumberLE(bytes);
  // What noble looks at before the square root (steps 1 and 3): below the prime, and not "negative".
  const canonical = s < ristretto255.Point.Fp.ORDER && !isNegative(s);
  try {
    return { point: ristretto255.Point.fromBytes(canonical ? bytes : STAND_IN_BYTES), decoded: canonical };
  } catch {
    return { point: STAND_IN, decoded: false };
  }
}

/**
 * The same elements, in the coordinates that decoding them gives. Coordinates remember how a point was computed: a fresh
 * multiple of G is affine, a sum is not, and additions can be retraced. Code that keeps points in memory keeps these.
 * Of the four points that stand for an element, (x, y), (−x, −y), (iy, ix) and (−iy, −ix), decoding gives the one where
 * neither x nor x·y is "negative", so no square root is needed; and one inversion serves for all.
 */
export function canonicalPoints(points: readonly RistrettoPoint[]): RistrettoPoint[] {
  const { Fp } = ristretto255.Point;
  const inverted = FpInvertBatch(
    Fp,
    points.map((point) => (point as unknown as Extended).ep.Z),
  );
  return points.map((point, i) => {
    let { x, y } = point.toAffine(inverted[i]);
    const product = Fp.mul(x, y);
    if (Fp.is0(product)) return IDENTITY;
    if (isNegative(product)) [x, y] = [Fp.mul(y, SQRT_OF_MINUS_ONE), Fp.mul(x, SQRT_OF_MINUS_ONE)];
    if (isNegative(x)) [x, y] = [Fp.neg(x), Fp.neg(y)];
    return ristretto255.Point.fromAffine({ x, y });
  });
}

/** What noble keeps of a point, and does not show; x = X/Z. */
interface Extended {
  readonly ep: { readonly Z: bigint };
}

/** G again, but for noble, which adds a multiple of ℓ to whatever multiplies `BASE`. */
let generator: RistrettoPoint | undefined;
const WINDOW = 8;

/**
 * r·G, for an r that is drawn for this and used for nothing else. `BASE.multiply` takes twice as long, because it blinds
 * the scalar every time: that protects one that is multiplied often, and here it is random already. The number of
 * additions is the same for every r.
 */
export function multiplyBaseOnce(r: bigint): RistrettoPoint {
  generator ??= ristretto255.Point.fromAffine(BASE.toAffine()).precompute(WINDOW);
  return generator.multiply(r);
}

/** As RFC 9496 calls odd numbers. */
function isNegative(value: bigint): boolean {
  return value % 2n === 1n;
}

/** A uniform scalar in [1, ℓ), by reduction of 64 bytes: the bias is below 2⁻²⁵⁸. */
export function randomScalar(random: Randomness): bigint {
  const bytes = new Uint8Array(WIDE_BYTES);
  let scalar = 0n;
  while (scalar === 0n) {
    random(bytes);
    scalar = bytesToNumberBE(bytes) % ORDER;
  }
  bytes.fill(0);
  return scalar;
}
