import { describe, expect, it } from "vitest";
import { seededRandomnessForTests } from "../../randomness/index.ts";
import { EMBEDDED_BYTES, embed, extract } from "./embedding.ts";
import { BASE, decodePoint, IDENTITY, randomScalar } from "./ristretto.ts";

const random = seededRandomnessForTests("embedding");
const randomData = (): Uint8Array => {
  const data = new Uint8Array(EMBEDDED_BYTES);
  random(data);
  return data;
};

describe("bytes in a group element", () => {
  it("come back, also through its encoding: random ones, and the least and the greatest", () => {
    const single = Array.from({ length: EMBEDDED_BYTES }, (_, i) => new Uint8Array(EMBEDDED_BYTES).with(i, 1));
    const extreme = [new Uint8Array(EMBEDDED_BYTES), new Uint8Array(EMBEDDED_BYTES).fill(255), ...single];
    for (const data of [...extreme, ...Array.from({ length: 100 }, randomData)]) {
      const point = embed(data);
      expect(extract(point.toBytes())).toEqual({ data, embedded: true });
      expect(extract(decodePoint(point.toBytes()).toBytes())).toEqual({ data, embedded: true });
    }
  });

  it("need four tries on average, since one even number in four is an encoding", () => {
    const RUNS = 500;
    const tries = Array.from({ length: RUNS }, () => {
      const [low, high] = embed(randomData()).toBytes() as unknown as [number, number];
      return (low + 256 * high) / 2 + 1;
    });
    const mean = tries.reduce((sum, count) => sum + count, 0) / RUNS;
    expect(tries.every(Number.isInteger)).toBe(true);
    // A number of tries has variance 12. The sum is slightly skewed: once in 10⁶ it is 5.1 standard deviations above.
    expect(Math.abs(mean - 4)).toBeLessThan(5.1 * Math.sqrt(12 / RUNS));
  });

  it("that are too few or too many are refused", () => {
    for (const length of [0, EMBEDDED_BYTES - 1, EMBEDDED_BYTES + 1, 32]) {
      expect(() => embed(new Uint8Array(length))).toThrow(
        expect.objectContaining({ name: "LetheError", code: "bad-encoding" }),
      );
    }
  });
});

it("the bytes that were given stay as they were", () => {
  const data = new Uint8Array(EMBEDDED_BYTES).fill(9);
  embed(data);
  expect(data).toEqual(new Uint8Array(EMBEDDED_BYTES).fill(9));
});

it("an element in which nothing was embedded is not taken for one in which something was", () => {
  for (let i = 0; i < 300; i++) expect(extract(BASE.multiply(randomScalar(random)).toBytes()).embedded).toBe(false);
  // An embedded element to which another is added, too.
  for (let i = 0; i < 50; i++) expect(extract(embed(randomData()).add(BASE).toBytes()).embedded).toBe(false);
});

it("the identity holds 24 zeros, as if they had been embedded", () => {
  expect(extract(IDENTITY.toBytes())).toEqual({ data: new Uint8Array(EMBEDDED_BYTES), embedded: true });
  expect(embed(new Uint8Array(EMBEDDED_BYTES)).equals(IDENTITY)).toBe(true);
});
