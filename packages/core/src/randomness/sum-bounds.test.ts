import { describe, expect, it } from "vitest";
import { exactMagnitude } from "./exact-sums.ts";
import { sumBounds } from "./sum-bounds.ts";

const KINDS = ["ternary", "binomial"] as const;
/** The least and the largest, sizes of tables, those of a day of ticks with hides and without. */
const COUNTS = [2, 3, 4, 5, 17, 64, 576, 1262, 2000, 2047, 2576, 4095, 4096];

/** u as `exactMagnitude` takes it. */
function split(u: bigint): [word: number, rest: Uint8Array] {
  return [Number(u >> 160n), Uint8Array.from({ length: 20 }, (_, i) => Number((u >> BigInt(8 * (19 - i))) & 0xffn))];
}

describe.each(KINDS)("the bounds on sums of %s samples", (kind) => {
  it.each(COUNTS)("of %i decide as exact integers do, wherever they decide", (count) => {
    const bounds = sumBounds(kind, count);
    const decided = (first: number): number | undefined => {
      const magnitude = bounds.findLastIndex((bound) => bound <= first);
      return (bounds[magnitude] as number) >= first - 1 ? undefined : magnitude;
    };
    // Exact numbers take a millisecond each: every bound of small tables, a sample of large ones and both ends.
    const stride = Math.ceil(bounds.length / 60);
    for (let j = 1; j < bounds.length; j++) {
      if (j > 3 && j % stride > 0) continue;
      for (const off of [-1, 0, 1, 2, 3]) {
        const first = (bounds[j] as number) + off;
        const magnitude = decided(first);
        if (first < 0 || first >= 2 ** 31 || magnitude === undefined) continue;
        const [low, high] = [BigInt(first) << 161n, (BigInt(first + 1) << 161n) - 1n];
        expect(exactMagnitude(kind, count, ...split(low))).toBe(magnitude);
        expect(exactMagnitude(kind, count, ...split(high))).toBe(magnitude);
      }
    }
  });

  it.each(COUNTS)(
    "of %i increase from −2 to 2³¹ − 1, their number is a power of two, and few words are undecided",
    (count) => {
      const bounds = sumBounds(kind, count);
      expect(Math.log2(bounds.length) % 1).toBe(0);
      expect([bounds[0], bounds.at(-1)]).toEqual([-2, 2 ** 31 - 1]);
      expect(bounds.every((bound, i) => i === 0 || bound >= (bounds[i - 1] as number))).toBe(true);
      // Beyond seven standard deviations there are none.
      const sigma = Math.sqrt(count * (kind === "ternary" ? 2 / 3 : 10.5));
      expect(new Set(bounds).size).toBeLessThan(3 + 7 * sigma);
    },
  );
});

it("an exact magnitude uses all of u, from none to the largest that there is", () => {
  // Of two ternary samples 3/9, 4/9 and 2/9 have magnitude 0, 1 and 2.
  const third = (1n << 192n) / 3n;
  expect(exactMagnitude("ternary", 2, ...split(0n))).toBe(0);
  expect(exactMagnitude("ternary", 2, ...split(third - 1n))).toBe(0);
  expect(exactMagnitude("ternary", 2, ...split(third))).toBe(1);
  expect(exactMagnitude("ternary", 2, ...split((7n << 192n) / 9n - 1n))).toBe(1);
  expect(exactMagnitude("ternary", 2, ...split((7n << 192n) / 9n))).toBe(2);
  expect(exactMagnitude("ternary", 2, ...split((1n << 192n) - 1n))).toBe(2);
  // All 84 bits alike have probability 2⁻⁸³; of 4,096 samples no magnitude near 86,016 is as likely as 2⁻¹⁹².
  expect(exactMagnitude("binomial", 2, ...split((1n << 192n) - 1n))).toBe(42);
  expect(exactMagnitude("binomial", 4096, ...split((1n << 192n) - 1n))).toBeLessThan(2 ** 12);
});
