import { describe, expect, it } from "vitest";
import { chiSquare, chiSquareAlarm } from "../../test/chi-square.ts";
import { bernoulli } from "./bernoulli.ts";
import { addCentredBinomial } from "./centred-binomial.ts";
import { type Randomness, randomnessFrom, seededRandomnessForTests } from "./randomness.ts";
import { addTernary } from "./ternary.ts";
import { uniformBelow } from "./uniform.ts";
import { uniformBelowBig } from "./uniform-big.ts";

/** Returns the given bytes, then fails: a sampler that draws more than it should is caught. */
function scripted(bytes: readonly number[]): Randomness & { left(): number } {
  let at = 0;
  const draw = (into: Uint8Array): void => {
    if (at + into.length > bytes.length) throw new Error("drew more than was scripted");
    for (let i = 0; i < into.length; i++) into[i] = bytes[at++] as number;
  };
  return Object.assign(draw, { left: () => bytes.length - at });
}

describe("uniformBelow", () => {
  it("is exact: every value of a byte gives each result equally often, or is rejected", () => {
    for (const bound of [2, 3, 5, 6, 7, 100, 128, 200, 255, 256]) {
      const bits = Math.ceil(Math.log2(bound));
      const counts = new Array<number>(bound).fill(0);
      for (let byte = 0; byte < 256; byte++) {
        // A rejected byte is followed by 0, which is accepted as 0; what is left distinguishes them.
        const random = scripted([byte, 0]);
        const value = uniformBelow(random, bound);
        if (random.left() === 1) counts[value] = (counts[value] as number) + 1;
      }
      expect(counts.every((count) => count === 2 ** (8 - bits))).toBe(true);
    }
  });

  it("reaches both ends of bounds of several bytes, and draws nothing below 1", () => {
    expect(uniformBelow(scripted([]), 1)).toBe(0);
    expect(uniformBelow(scripted([0xff, 0xff, 0xff, 0xff, 0xff, 0xff]), 2 ** 48)).toBe(2 ** 48 - 1);
    expect(uniformBelow(scripted([0x01, 0x00, 0x00]), 65_537)).toBe(65_536);
    expect(uniformBelow(scripted([0xff, 0xff, 0xff, 0, 0, 9]), 65_537)).toBe(9);
    expect(uniformBelowBig(seededRandomnessForTests(1), 1n << 300n) < 1n << 300n).toBe(true);
  });

  it("refuses bounds that are not whole numbers from 1 to 2^48", () => {
    for (const bound of [0, -1, 1.5, Number.NaN, 2 ** 48 + 1]) {
      expect(() => uniformBelow(seededRandomnessForTests(1), bound)).toThrow(RangeError);
    }
    expect(() => uniformBelowBig(seededRandomnessForTests(1), 0n)).toThrow(RangeError);
  });
});

describe("bernoulli", () => {
  it("is exact: true for numerator of every denominator accepted draws", () => {
    for (const [numerator, denominator] of [
      [0n, 7n],
      [1n, 7n],
      [5n, 7n],
      [7n, 7n],
      [3n, 256n],
      [1n, 2n],
    ] as const) {
      let accepted = 0;
      let yes = 0;
      for (let byte = 0; byte < 256; byte++) {
        const random = scripted([byte, 0]);
        const value = bernoulli(random, numerator, denominator);
        if (random.left() === 0) continue;
        accepted++;
        if (value) yes++;
      }
      expect(BigInt(yes) * denominator).toBe(BigInt(accepted) * numerator);
    }
  });

  it("refuses what is not a probability", () => {
    for (const [numerator, denominator] of [
      [1n, 0n],
      [-1n, 2n],
      [3n, 2n],
    ] as const) {
      expect(() => bernoulli(seededRandomnessForTests(1), numerator, denominator)).toThrow(RangeError);
    }
  });
});

describe("addTernary", () => {
  it("is exact: over the accepted bytes each of the 3⁵ digit strings occurs once, the other 13 are rejected", () => {
    const seen = new Map<string, number>();
    let rejected = 0;
    for (let byte = 0; byte < 256; byte++) {
      const digits = new Int32Array(5);
      // One digit byte is needed, two are drawn; a rejected first one is followed by 121 = 11111 in base 3.
      addTernary(scripted([byte, 121]), digits);
      if (byte >= 243) {
        expect(digits.every((digit) => digit === 0)).toBe(true);
        rejected++;
      } else seen.set(digits.join(), (seen.get(digits.join()) ?? 0) + 1);
    }
    expect(rejected).toBe(13);
    expect(seen.size).toBe(243);
    for (const text of seen.keys()) expect(text).toMatch(/^(-1|0|1)(,(-1|0|1)){4}$/);
  });

  it("adds to what is there, for lengths that are no multiple of five, drawing again when bytes run out", () => {
    const sums = new Int32Array(7).fill(10);
    // Two digit bytes are needed, three drawn at a time; here all but one are rejected in the first draw.
    addTernary(scripted([250, 255, 242, 250, 0]), sums);
    expect(Array.from(sums)).toEqual([11, 11, 11, 11, 11, 9, 9]);
  });
});

describe("addCentredBinomial", () => {
  it("counts ones: all bits clear give −21, all set 21, each single bit −20", () => {
    const sample = (set: (bytes: Uint8Array) => void): number => {
      const sums = new Int32Array(1);
      addCentredBinomial((into) => set(into.fill(0)), sums);
      return sums[0] as number;
    };
    expect(sample(() => {})).toBe(-21);
    expect(sample((bytes) => bytes.fill(0xff))).toBe(21);
    // 32 separate bits and ten of the shared word; the other 22 belong to no sample here.
    const single = Array.from({ length: 64 }, (_, bit) =>
      sample((bytes) => {
        bytes[bit >> 3] = 1 << (bit & 7);
      }),
    );
    expect(single.filter((value) => value === -20).length).toBe(42);
    expect(single.filter((value) => value === -21).length).toBe(22);
  });

  it("uses every random bit once: three samples share a word", () => {
    for (let bit = 0; bit < 126 + 2; bit++) {
      const sums = new Int32Array(3);
      addCentredBinomial((into) => {
        into.fill(0)[bit >> 3] = 1 << (bit & 7);
      }, sums);
      expect(sums.reduce((total, value) => total + value, 0)).toBe(bit < 126 ? -62 : -63);
    }
  });

  it("has the distribution of 42 fair bits minus 21 (χ², false alarm 1e-6)", () => {
    const samples = 2 ** 20;
    const sums = new Int32Array(samples);
    addCentredBinomial(seededRandomnessForTests("centred binomial"), sums);
    // Tails from |x| > 13 pooled: 29 classes.
    const counts = new Array<number>(29).fill(0);
    for (const x of sums) {
      const at = Math.max(-14, Math.min(14, x)) + 14;
      counts[at] = (counts[at] as number) + 1;
    }
    let ways = 1;
    const expected = new Array<number>(29).fill(0);
    for (let ones = 0; ones <= 42; ones++) {
      const at = Math.max(-14, Math.min(14, ones - 21)) + 14;
      expected[at] = (expected[at] as number) + (samples * ways) / 2 ** 42;
      ways = (ways * (42 - ones)) / (ones + 1);
    }
    expect(chiSquare(counts, expected)).toBeLessThan(chiSquareAlarm(28));
  });
});

describe("randomness", () => {
  it("from the platform asks for at most 65,536 bytes at a time and fills everything", () => {
    const requests: number[] = [];
    const bytes = new Uint8Array(200_000);
    randomnessFrom({
      getRandomValues: (array) => {
        requests.push(array.length);
        return array.fill(7);
      },
    })(bytes);
    expect(requests).toEqual([65_536, 65_536, 65_536, 3_392]);
    expect(bytes.every((byte) => byte === 7)).toBe(true);
  });

  it("from a seed repeats itself, continues, and differs between seeds", () => {
    const read = (random: Randomness, length: number): number[] => {
      const bytes = new Uint8Array(length);
      random(bytes);
      return Array.from(bytes);
    };
    const first = seededRandomnessForTests(1);
    expect([...read(first, 3), ...read(first, 500)]).toEqual(read(seededRandomnessForTests(1), 503));
    expect(read(seededRandomnessForTests(1), 16)).not.toEqual(read(seededRandomnessForTests(2), 16));
  });
});
