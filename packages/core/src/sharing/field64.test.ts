import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { add, ELEMENT_BYTES, type Elements, halve, isEqual, multiply, read, subtract, write } from "./field64.ts";

const MODULUS = 2n ** 64n - 2n ** 32n + 1n;

function elementsOf(...values: readonly bigint[]): Elements {
  return Uint32Array.from(values.flatMap((value) => [Number(value & 0xffff_ffffn), Number(value >> 32n)]));
}

function integerOf(elements: Elements, i: number): bigint {
  return BigInt(elements[i] as number) + (BigInt(elements[i + 1] as number) << 32n);
}

/** The edges of words and of the modulus are tried more often than chance would. */
const EDGES = [0n, 1n, 2n ** 16n, 2n ** 32n - 1n, 2n ** 32n, 2n ** 32n + 1n, 2n ** 48n, 2n ** 63n];
const edge = fc.constantFrom(...EDGES, ...EDGES.map((value) => (MODULUS - 1n - value + MODULUS) % MODULUS));
const element = fc.oneof(edge, fc.bigInt({ min: 0n, max: MODULUS - 1n }));

describe.each([
  ["add", add, (a: bigint, b: bigint) => (a + b) % MODULUS],
  ["subtract", subtract, (a: bigint, b: bigint) => (a - b + MODULUS) % MODULUS],
  ["multiply", multiply, (a: bigint, b: bigint) => (a * b) % MODULUS],
] as const)("%s", (_name, operation, expected) => {
  it("does what integers modulo the prime do, also in place", () => {
    fc.assert(
      fc.property(element, element, (a, b) => {
        const elements = elementsOf(a, b, 0n);
        operation(elements, 4, elements, 0, elements, 2);
        expect(integerOf(elements, 4)).toBe(expected(a, b));
        operation(elements, 0, elements, 0, elements, 2);
        expect(integerOf(elements, 0)).toBe(expected(a, b));
        expect(integerOf(elements, 2)).toBe(b);
      }),
      { numRuns: 20_000 },
    );
  });

  it("of all pairs of edges", () => {
    const values = [...EDGES, ...EDGES.map((value) => MODULUS - 1n - value)];
    for (const a of values) {
      for (const b of values) {
        const elements = elementsOf(a, b, 0n);
        operation(elements, 4, elements, 0, elements, 2);
        expect({ a, b, is: integerOf(elements, 4) }).toEqual({ a, b, is: expected(a, b) });
      }
    }
  });
});

it("halve gives what doubled is the same, also in place", () => {
  fc.assert(
    fc.property(element, (a) => {
      const elements = elementsOf(a, 0n);
      halve(elements, 2, elements, 0);
      expect((2n * integerOf(elements, 2)) % MODULUS).toBe(a);
      expect(integerOf(elements, 2)).toBeLessThan(MODULUS);
      halve(elements, 0, elements, 0);
      expect(integerOf(elements, 0)).toBe(integerOf(elements, 2));
    }),
    { numRuns: 20_000 },
  );
});

describe("bytes", () => {
  it("come back as they went", () => {
    fc.assert(
      fc.property(element, (value) => {
        const bytes = new Uint8Array(3 + ELEMENT_BYTES);
        write(elementsOf(value), 0, bytes, 3);
        const back = elementsOf(0n);
        expect(read(back, 0, bytes, 3)).toBe(true);
        expect(integerOf(back, 0)).toBe(value);
        expect(isEqual(back, 0, elementsOf(value), 0)).toBe(true);
        expect(isEqual(back, 0, elementsOf((value + 1n) % MODULUS), 0)).toBe(false);
      }),
    );
  });

  it("of the modulus and what is above are no element", () => {
    for (const value of [MODULUS, MODULUS + 1n, 2n ** 64n - 1n]) {
      const bytes = Uint8Array.from({ length: 8 }, (_, i) => Number((value >> BigInt(8 * i)) & 255n));
      expect(read(elementsOf(0n), 0, bytes, 0)).toBe(false);
    }
  });
});
