import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fastRandomness } from "../../../test/fast-randomness.ts";
import { addTernary, seededRandomnessForTests } from "../../randomness/index.ts";
import { addSummed, MOST_SUMMED } from "../../randomness/summed.ts";
import { addElement, type RingElement } from "./limbs.ts";
import { negateRange, scaleElement } from "./multiples.ts";
import { LATTICE_SETS, type LatticeParameters, LIMB, modulusBits } from "./parameters.ts";
import { largestFactor } from "./product-error.ts";
import { type Ring, ringOf } from "./ring.ts";
import { multiplyElement, rotateElement } from "./rotating.ts";

/** The same ring in big integers, written as plainly as possible. */
function reference(parameters: LatticeParameters) {
  const { dimension: N, limbs } = parameters;
  const q = 1n << BigInt(modulusBits(parameters));
  const reduce = (value: bigint): bigint => ((value % q) + q) % q;
  return {
    read: (element: RingElement): bigint[] =>
      Array.from({ length: N }, (_, i) =>
        Array.from({ length: limbs }, (_, l) => BigInt(element[l * N + i] as number) << BigInt(25 * l)).reduce(
          (sum, limb) => sum + limb,
        ),
      ),
    map: (values: bigint[], change: (value: bigint, i: number) => bigint): bigint[] =>
      values.map((value, i) => reduce(change(value, i))),
    multiply: (x: bigint[], y: Int32Array): bigint[] => {
      const times = (sign: 1 | -1): bigint[] =>
        unpack(pack(x) * pack(Array.from(y, (factor) => BigInt(Math.max(sign * factor, 0)))), 2 * N);
      const [plus, minus] = [times(1), times(-1)];
      const z = plus.map((value, i) => value - (minus[i] as bigint));
      return Array.from({ length: N }, (_, i) => reduce((z[i] as bigint) - (z[i + N] as bigint)));
    },
  };
}

/** Hexadecimal digits that hold any coefficient of a product. */
const DIGITS = 36;

/**
 * A polynomial with coefficients from 0 on as one integer: the platform multiplies those quickly, and in a way of its
 * own.
 */
function pack(coefficients: readonly bigint[]): bigint {
  return BigInt(
    `0x${coefficients
      .map((value) => value.toString(16).padStart(DIGITS, "0"))
      .reverse()
      .join("")}`,
  );
}

/** The 2N coefficients of a product. */
function unpack(product: bigint, count: number): bigint[] {
  const digits = product.toString(16).padStart(DIGITS * count, "0");
  return Array.from({ length: count }, (_, i) => BigInt(`0x${digits.slice(DIGITS * i, DIGITS * (i + 1))}`)).reverse();
}

function uniformElement(ring: Ring, seed: number): RingElement {
  const element = ring.zero();
  const words = new Uint32Array(element.length);
  seededRandomnessForTests(seed)(new Uint8Array(words.buffer));
  return element.map((_, i) => (words[i] as number) % LIMB);
}

for (const parameters of LATTICE_SETS) {
  const { set, dimension: N } = parameters;
  const ring = ringOf(parameters);
  const { read, map, multiply } = reference(parameters);
  const runs = { numRuns: 20 };

  describe(`the ring of ${set} ${N}`, () => {
    it("adds, negates, scales and rotates as in big integers", () => {
      const smallFactor = fc.integer({ min: -(2 ** 25) + 1, max: 2 ** 25 - 1 });
      fc.assert(
        fc.property(fc.nat(), fc.nat(), smallFactor, fc.integer({ min: -3 * N, max: 3 * N }), (s1, s2, factor, k) => {
          const [x, y] = [uniformElement(ring, s1), uniformElement(ring, s2)];
          const [before, other] = [read(x), read(y)];
          addElement(parameters, x, y);
          expect(read(x)).toEqual(map(before, (value, i) => value + (other[i] as bigint)));
          negateRange(parameters, y, 0, N);
          expect(read(y)).toEqual(map(other, (value) => -value));
          const scaled = uniformElement(ring, s1);
          scaleElement(parameters, scaled, factor);
          expect(read(scaled)).toEqual(map(before, (value) => value * BigInt(factor)));
          const rotated = uniformElement(ring, s1);
          rotateElement(parameters, rotated, k);
          const unit = new Int32Array(N);
          const shift = ((k % (2 * N)) + 2 * N) % (2 * N);
          unit[shift % N] = shift < N ? 1 : -1;
          expect(read(rotated)).toEqual(multiply(before, unit));
        }),
        runs,
      );
    });

    it("adds small polynomials with carries and borrows, with a product or without", () => {
      const [nothing, zero] = [ring.transform(ring.zero()), ring.transformSmall(new Int32Array(N))];
      const small = new Int32Array(N).map((_, i) => (i % 2 === 0 ? 1 : -1) * i * 1000);
      for (const x of [ring.zero(), ring.zero().fill(LIMB - 1), uniformElement(ring, 5)]) {
        const [before, spectra] = [read(x), ring.transform(x)];
        ring.addProduct(x, nothing, zero, small);
        expect(read(x)).toEqual(map(before, (value, i) => value + BigInt(small[i] as number)));
        const factor = new Int32Array(N).fill(-1);
        const product = multiply(before, factor);
        const sum = read(x);
        ring.addProduct(x, spectra, ring.transformSmall(factor), small);
        expect(read(x)).toEqual(map(sum, (value, i) => value + (product[i] as bigint) + BigInt(small[i] as number)));
      }
    });

    it("multiplies exactly: ternary, the largest sums of samples, worst cases", () => {
      const ternary = new Int32Array(N);
      addTernary(seededRandomnessForTests("ternary factor"), ternary);
      const largest = largestFactor(N);
      // As many samples as are ever summed at once, and one sum that is as large as any can be: far above `largest`.
      const directSum = new Int32Array(N);
      addSummed("ternary", fastRandomness(`sums ${set} ${N}`), MOST_SUMMED, directSum);
      directSum[1] = MOST_SUMMED;
      const norm = Math.sqrt(directSum.reduce((sum, entry) => sum + entry * entry, 0));
      expect(norm).toBeLessThan((largest * Math.sqrt(N)) / 1.5);
      expect(MOST_SUMMED).toBeGreaterThan(2 * largest);
      const factors = [
        ternary,
        new Int32Array(N).fill(1),
        ternary.map((digit) => digit * largest),
        new Int32Array(N).fill(largest),
        new Int32Array(N).map((_, i) => (i % 2 === 0 ? largest : -largest)),
        directSum,
      ];
      const elements = [uniformElement(ring, 1), ring.zero().fill(LIMB / 2), ring.zero().fill(LIMB / 2 - 1)];
      for (const [i, factor] of factors.entries()) {
        const element = elements[i % elements.length] as RingElement;
        const target = uniformElement(ring, 99);
        const before = read(target);
        const product = multiply(read(element), factor);
        ring.addProduct(target, ring.transform(element), ring.transformSmall(factor));
        expect(read(target)).toEqual(map(before, (value, j) => value + (product[j] as bigint)));
      }
    });

    it("multiplies exactly by weights of any size, in digits", () => {
      const weights = new Int32Array(N).map((_, i) =>
        i < 40 ? (i % 2 === 0 ? 1 : -1) * (2 ** 30 - i * 12_345_678) : 0,
      );
      const target = uniformElement(ring, 7);
      const expected = multiply(read(target), weights);
      multiplyElement(ring, target, weights);
      expect(read(target)).toEqual(expected);
    });
  });
}

it("scaling refuses factors for which limbs would not be exact", () => {
  const ring = ringOf(LATTICE_SETS[0]);
  for (const factor of [LIMB, -LIMB, 0.5, Number.NaN])
    expect(() => scaleElement(ring.parameters, ring.zero(), factor)).toThrow(RangeError);
});
