import { describe, expect, it } from "vitest";
import { seededRandomnessForTests, uniformBelow } from "../../randomness/index.ts";
import { createNegacyclicFft } from "./negacyclic-fft.ts";
import { productError } from "./product-error.ts";

const random = seededRandomnessForTests("fft");

/** Σ_{i+j=k} x_i·y_j − Σ_{i+j=k+N} x_i·y_j, exactly: all partial sums stay below 2⁵³. */
function schoolbook(x: Float64Array, y: Float64Array): Float64Array {
  const N = x.length;
  const z = new Float64Array(N);
  for (let i = 0; i < N; i++) {
    const xi = x[i] as number;
    for (let j = 0; j < N - i; j++) z[i + j] = (z[i + j] as number) + xi * (y[j] as number);
    for (let j = N - i; j < N; j++) z[i + j - N] = (z[i + j - N] as number) - xi * (y[j] as number);
  }
  return z;
}

/** The largest error of a coefficient of x·y by FFT, before any rounding. */
function largestError(x: Float64Array, y: Float64Array): number {
  const N = x.length;
  const half = N / 2;
  const fft = createNegacyclicFft(N);
  const [a, b, z] = [x.slice(), y.slice(), new Float64Array(N)];
  fft.forward(a);
  fft.forward(b);
  for (let k = 0; k < half; k++) {
    const [ar, ai, br, bi] = [a[k], a[k + half], b[k], b[k + half]] as [number, number, number, number];
    z[k] = (ar * br - ai * bi) / half;
    z[k + half] = (ar * bi + ai * br) / half;
  }
  fft.inverse(z);
  return schoolbook(x, y).reduce((largest, exact, k) => Math.max(largest, Math.abs(exact - (z[k] as number))), 0);
}

function vector(N: number, entry: (i: number) => number): Float64Array {
  return Float64Array.from({ length: N }, (_, i) => entry(i));
}

const uniform = (largest: number) => () => uniformBelow(random, 2 * largest + 1) - largest;
const norm = (x: Float64Array): number => Math.sqrt(x.reduce((sum, entry) => sum + entry * entry, 0));

describe("the negacyclic FFT", () => {
  for (const N of [16, 32, 1024, 2048, 4096]) {
    // The factors that occur: ternary samples, sums of them, weights.
    for (const factor of [1, 64, 200]) {
      it(`N = ${N}: products with coefficients up to 2²⁴ and ${factor} err less than the bound, and than 1/4`, () => {
        const large = 2 ** 24;
        const alternating = (i: number): number => (i % 2 === 0 ? 1 : -1);
        const pairs: [Float64Array, Float64Array][] = [
          [vector(N, uniform(large)), vector(N, uniform(factor))],
          [vector(N, () => -large), vector(N, () => factor)],
          [vector(N, (i) => large * alternating(i)), vector(N, (i) => factor * alternating(i))],
          [vector(N, () => large - 1), vector(N, (i) => factor * alternating(i))],
          [vector(N, (i) => (i === N - 1 ? large : 0)), vector(N, (i) => (i === N - 1 ? factor : 0))],
          // Spectra concentrated in one point.
          [
            vector(N, (i) => Math.round(large * Math.cos((Math.PI * 5 * i) / N))),
            vector(N, (i) => Math.round(factor * Math.cos((Math.PI * 5 * i) / N))),
          ],
        ];
        for (const [x, y] of pairs) {
          const error = largestError(x, y);
          const bound = productError(N, norm(x), norm(y));
          expect(error).toBeLessThanOrEqual(bound);
          expect(bound).toBeLessThan(0.25);
        }
      });
    }
  }

  it("multiplies by X^k exactly as a rotation with sign", () => {
    const N = 64;
    const x = vector(N, (i) => i + 1);
    for (const k of [0, 1, 31, 32, 63]) {
      const error = largestError(
        x,
        vector(N, (i) => (i === k ? 1 : 0)),
      );
      expect(error).toBeLessThan(1e-12);
    }
  });

  it("refuses dimensions that are not powers of two", () => {
    for (const N of [0, 8, 24, 1000, 1.5]) expect(() => createNegacyclicFft(N)).toThrow(RangeError);
  });
});

it("the engine's sine and cosine are as exact as the error bound assumes", () => {
  // Compared with Taylor series in big integers of 200 bits.
  const ONE = 1n << 200n;
  const series = (x: bigint, first: bigint, from: bigint): bigint => {
    let term = first;
    let sum = 0n;
    for (let n = from; term !== 0n; n += 2n) {
      sum += term;
      term = (-term * x * x) / ONE / ONE / (n * (n + 1n));
    }
    return sum;
  };
  const PI = 314159265358979323846264338327950288419716939937510582097494459230n;
  const pi = (PI * ONE) / 10n ** 65n;
  for (let k = 1; k <= 1024; k++) {
    // Arguments up to π/4, as in the twiddle tables for N = 4096.
    const x = (pi * BigInt(k)) / 4096n;
    const exact = [series(x, ONE, 1n), series(x, x, 2n)] as const;
    const angle = (Math.PI * k) / 4096;
    for (const [i, computed] of [Math.cos(angle), Math.sin(angle)].entries()) {
      const difference = (exact[i] as bigint) - BigInt(Math.round(computed * 2 ** 60)) * (1n << 140n);
      // |Δw| ≤ 4ε allows 2ε·√2 a component; rounding to 2⁻⁶⁰ is far below.
      expect(Math.abs(Number(difference) / 2 ** 200)).toBeLessThan(2.8 * 2 ** -53);
    }
  }
});
