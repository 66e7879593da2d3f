import { readFileSync } from "node:fs";
import { ristretto255, ristretto255_hasher } from "@noble/curves/ed25519.js";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import { describe, expect, it } from "vitest";
import { coordinatesOf } from "../../../test/coordinates.ts";
import { LetheError } from "../../error.ts";
import { seededRandomnessForTests } from "../../randomness/index.ts";
import {
  BASE,
  canonicalPoints,
  decodePoint,
  IDENTITY,
  multiplyBaseOnce,
  ORDER,
  type RistrettoPoint,
  randomScalar,
} from "./ristretto.ts";

interface Vectors {
  readonly multiplesOfGenerator: readonly string[];
  readonly invalidEncodings: readonly string[];
  readonly fromUniformBytes: readonly { readonly uniform: string; readonly element: string }[];
}
const file = new URL("../../../vectors/rfc9496-ristretto255.json", import.meta.url);
const vectors = JSON.parse(readFileSync(file, "utf8")) as Vectors;

describe("RFC 9496", () => {
  it("A.1: multiples of the generator encode and decode as listed", () => {
    expect(vectors.multiplesOfGenerator.length).toBe(16);
    let point = IDENTITY;
    for (const hex of vectors.multiplesOfGenerator) {
      expect(point.toHex()).toBe(hex);
      expect(decodePoint(hexToBytes(hex)).equals(point)).toBe(true);
      point = point.add(BASE);
    }
  });

  it("A.2: invalid encodings are refused by name", () => {
    expect(vectors.invalidEncodings.length).toBe(29);
    for (const hex of vectors.invalidEncodings) {
      expect(() => decodePoint(hexToBytes(hex))).toThrow(LetheError);
      expect(() => decodePoint(hexToBytes(hex))).toThrow("not the encoding of a group element");
    }
  });

  it("A.3: elements from uniform bytes", () => {
    expect(vectors.fromUniformBytes.length).toBeGreaterThanOrEqual(7);
    for (const { uniform, element } of vectors.fromUniformBytes) {
      expect(ristretto255_hasher.deriveToCurve?.(hexToBytes(uniform)).toHex()).toBe(element);
    }
  });
});

describe("canonical coordinates", () => {
  const { Point } = ristretto255;
  const i = Point.Fp.sqrt(Point.Fp.neg(1n));
  /** All four points of the curve that stand for an element. */
  const standIns = (point: RistrettoPoint): RistrettoPoint[] => {
    const { x, y } = point.toAffine();
    const turned = { x: Point.Fp.mul(i, y), y: Point.Fp.mul(i, x) };
    const opposite = (p: typeof turned) => ({ x: Point.Fp.neg(p.x), y: Point.Fp.neg(p.y) });
    return [{ x, y }, opposite({ x, y }), turned, opposite(turned)].map((p) => Point.fromAffine(p));
  };

  it("are those of decoding, whichever of its four points stands for an element, and however it was computed", () => {
    const random = seededRandomnessForTests("canonical coordinates");
    const elements = [IDENTITY, BASE, ...Array.from({ length: 50 }, () => BASE.multiply(randomScalar(random)))];
    for (const element of elements) {
      const expected = coordinatesOf(decodePoint(element.toBytes()));
      for (const standIn of standIns(element)) {
        expect(standIn.equals(element)).toBe(true);
        // The last is the same element, with another Z.
        const again = standIn.add(BASE).subtract(BASE);
        for (const point of canonicalPoints([standIn, again, IDENTITY, again]).toSpliced(2, 1)) {
          expect(coordinatesOf(point)).toEqual(expected);
        }
      }
    }
  });
});

it("a multiple of G computed for once is that of noble's G, for random scalars and the least and greatest", () => {
  const random = seededRandomnessForTests("once");
  for (const r of [1n, 2n, 255n, 256n, ORDER - 1n, ...Array.from({ length: 20 }, () => randomScalar(random))]) {
    expect(multiplyBaseOnce(r).equals(BASE.multiply(r))).toBe(true);
  }
});

describe("randomScalar", () => {
  const order = 2n ** 252n + 27742317777372353535851937790883648493n;
  const filledWith = (...bytes: number[]) => {
    let draws = 0;
    const scalar = randomScalar((into) => into.fill(bytes[draws++] as number));
    return { scalar, draws };
  };

  it("is 64 big-endian bytes reduced modulo the group order", () => {
    expect(filledWith(0xff).scalar).toBe((2n ** 512n - 1n) % order);
    expect(filledWith(0x01).scalar).toBe(BigInt(`0x${bytesToHex(new Uint8Array(64).fill(1))}`) % order);
  });

  it("is never zero: it draws again", () => {
    expect(filledWith(0, 0, 7)).toEqual({ scalar: filledWith(7).scalar, draws: 3 });
  });
});
