import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { refusal } from "../../test/refusal.ts";
import { MODULUS, modulo, random, readElement, writeElement } from "../../test/two-server.ts";
import { createDiscreteGaussian } from "../privacy/index.ts";
import { seededRandomnessForTests } from "../randomness/index.ts";
import { addAggregateShares, createAggregateShare, mergeAggregateShares } from "./aggregate-share.ts";

const MOST = 2 ** 52;
const WORD = 2 ** 32;

function bytesOf(elements: readonly bigint[]): Uint8Array {
  const bytes = new Uint8Array(8 * elements.length);
  for (const [i, element] of elements.entries()) writeElement(bytes, 8 * i, element);
  return bytes;
}

const elementsOf = (bytes: Uint8Array): bigint[] =>
  Array.from({ length: bytes.length / 8 }, (_, i) => readElement(bytes, 8 * i));

const element = fc.oneof(
  fc.constantFrom(0n, 1n, 2n ** 32n - 1n, 2n ** 32n, 2n ** 63n, MODULUS - 2n ** 32n, MODULUS - 2n, MODULUS - 1n),
  fc.bigInt({ min: 0n, max: MODULUS - 1n }),
);
/** Where words and signs change is tried more often than chance would. */
const EDGES = [0, 1, 2, WORD - 1, WORD, WORD + 1, WORD + 2, 2 * WORD, 2 * WORD + 1, MOST - 1, MOST];
const integer = fc.oneof(
  fc.constantFrom(...EDGES, ...EDGES.map((value) => 0 - value)),
  fc.integer({ min: -100, max: 100 }),
  fc.maxSafeInteger().filter((value) => Math.abs(value) <= MOST),
);

describe("a share of the sums", () => {
  it("is the sum modulo the prime of what was added: shares of devices and constants, in any order", () => {
    const step = fc.oneof(
      fc.record({ shares: fc.tuple(element, element, element) }),
      fc.record({ constants: fc.tuple(integer, integer, integer) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
        const share = createAggregateShare(3);
        const sums = [0n, 0n, 0n];
        for (const each of steps) {
          const values = "shares" in each ? each.shares : each.constants.map(BigInt);
          if ("shares" in each) share.add(bytesOf(each.shares));
          else share.addConstant(each.constants);
          for (const [i, value] of values.entries()) sums[i] = modulo((sums[i] as bigint) + value);
        }
        expect(elementsOf(share.encode())).toEqual(sums);
      }),
      { numRuns: 500 },
    );
  });

  it("of some devices, merged with that of others, is the share of all; one of other length is refused", () => {
    const pair = fc.tuple(element, element);
    fc.assert(
      fc.property(pair, pair, (one, other) => {
        const merged = mergeAggregateShares(bytesOf(one), bytesOf(other));
        expect(elementsOf(merged)).toEqual(one.map((value, i) => modulo(value + (other[i] as bigint))));
      }),
    );
    expect(refusal(() => mergeAggregateShares(bytesOf([1n]), bytesOf([1n, 2n])))).toContain("16 bytes");
  });

  it("of every integer, alone, stands for it: at all edges of words and signs", () => {
    for (const value of [...EDGES, ...EDGES.map((edge) => -edge)]) {
      const share = createAggregateShare(1);
      share.addConstant([value]);
      expect(elementsOf(share.encode())).toEqual([modulo(BigInt(value))]);
      expect(addAggregateShares(share.encode(), new Uint8Array(8))).toEqual([value + 0]);
      expect(addAggregateShares(new Uint8Array(8), share.encode())).toEqual([value + 0]);
    }
  });

  it("resumes from what was stored", () => {
    fc.assert(
      fc.property(element, element, integer, (first, second, constant) => {
        const before = createAggregateShare(2);
        before.add(bytesOf([first, second]));
        const after = createAggregateShare(2, before.encode());
        expect(after.encode()).toEqual(before.encode());
        for (const share of [before, after]) {
          share.add(bytesOf([second, second]));
          share.addConstant([constant, -constant]);
        }
        expect(after.encode()).toEqual(before.encode());
      }),
    );
  });

  it("is given away as a copy", () => {
    const share = createAggregateShare(1);
    share.encode().fill(9);
    expect(share.encode()).toEqual(new Uint8Array(8));
  });

  it("refuses what is no field element, and what has another length", () => {
    const tooLarge = (value: bigint): Uint8Array => {
      const bytes = new Uint8Array(16);
      new DataView(bytes.buffer).setBigUint64(8, value, true);
      return bytes;
    };
    for (const value of [MODULUS, MODULUS + 1n, 2n ** 64n - 1n]) {
      const bytes = tooLarge(value);
      refusal(() => createAggregateShare(2).add(bytes));
      refusal(() => createAggregateShare(2, bytes));
      refusal(() => addAggregateShares(bytes, new Uint8Array(16)));
      refusal(() => addAggregateShares(new Uint8Array(16), bytes));
    }
    for (const length of [0, 8, 15, 17, 24]) {
      refusal(() => createAggregateShare(2).add(new Uint8Array(length)));
      refusal(() => createAggregateShare(2, new Uint8Array(length)));
      refusal(() => addAggregateShares(new Uint8Array(16), new Uint8Array(length)));
    }
  });

  it("refuses constants that are no whole numbers or beyond 2⁵²", () => {
    for (const value of [0.5, Number.NaN, Number.POSITIVE_INFINITY, MOST + 1, -MOST - 1, 2 ** 60]) {
      expect(() => createAggregateShare(1).addConstant([value])).toThrow(RangeError);
    }
  });
});

describe("two shares", () => {
  it("are of the integer that was split between them, negative or not", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(integer, element), { minLength: 1, maxLength: 5 }), (split) => {
        const leader = bytesOf(split.map(([value, mask]) => modulo(BigInt(value) - mask)));
        const helper = bytesOf(split.map(([, mask]) => mask));
        expect(addAggregateShares(leader, helper)).toEqual(split.map(([value]) => value + 0));
      }),
      { numRuns: 2000 },
    );
  });

  it("that are not of one sum are refused: no honest sum is beyond 2⁵²", () => {
    for (const value of [
      BigInt(MOST) + 1n,
      -BigInt(MOST) - 1n,
      2n ** 62n,
      -(2n ** 62n),
      MODULUS / 2n,
      MODULUS / 2n + 1n,
    ]) {
      expect(refusal(() => addAggregateShares(bytesOf([value]), new Uint8Array(8)))).toContain("not of one sum");
    }
    // As shares that belong to different devices are: 2⁵³ of 2⁶⁴ would pass.
    const unrelated = seededRandomnessForTests("unrelated");
    const shares = Array.from({ length: 2 }, () => {
      const bytes = new Uint8Array(8);
      unrelated(bytes);
      return bytes;
    }) as [Uint8Array, Uint8Array];
    refusal(() => addAggregateShares(...shares));
  });
});

describe("noise", () => {
  it("is added where there is some, positive and negative, and nothing where there is none", () => {
    const noise = [createDiscreteGaussian(50), undefined, createDiscreteGaussian(3)];
    const drawn = Array.from({ length: 200 }, () => {
      const share = createAggregateShare(3, bytesOf([5n, 6n, 7n]));
      share.addNoise(noise, random);
      const [first, second, third] = addAggregateShares(share.encode(), bytesOf([0n, 0n, 0n])) as [
        number,
        number,
        number,
      ];
      expect(second).toBe(6);
      expect(Math.abs(third - 7)).toBeLessThanOrEqual(createDiscreteGaussian(3).reach);
      return first - 5;
    });
    expect(drawn.some((value) => value > 0)).toBe(true);
    expect(drawn.some((value) => value < 0)).toBe(true);
    expect(new Set(drawn).size).toBeGreaterThan(50);
  });

  it("is different for each answer", () => {
    const share = createAggregateShare(20);
    share.addNoise(new Array<ReturnType<typeof createDiscreteGaussian>>(20).fill(createDiscreteGaussian(1e6)), random);
    expect(new Set(elementsOf(share.encode())).size).toBeGreaterThan(15);
  });
});
