import { requireWhole } from "../../error.ts";

/**
 * Multiplication in R[X]/(X^N + 1) by a double-precision FFT of N/2 complex points.
 *
 * A real polynomial modulo X^N + 1 is determined by its residue modulo X^H − i, H = N/2: coefficient j of that residue
 * is x_j + i·x_{j+H}. A vector of N doubles, real parts in [0, H), imaginary parts in [H, N), therefore *is* the
 * polynomial; `forward` and `inverse` work on it in place. X^n − ζ splits into the four factors X^{n/4} − i^k·v, v =
 * ζ^{1/4}, so no separate twist is needed, and the order in which the residues come out does not matter because
 * products are taken point by point.
 *
 * ## Error bound Let ε = 2⁻⁵³, and let every stored twiddle be within β of the true one; `twiddle` keeps β ≤ 4ε
 * (argument below π/4 with relative error 2ε; cosine and sine within one unit in the last place, which ECMAScript does
 * not promise but the fdlibm code in all engines gives, and the tests check). A complex product is computed with
 * relative error at most √5·ε [BPZ07], a complex sum with ε. A radix-4 pass is one product and two sums per path, so it
 * multiplies the relative error of the vector's 2-norm by at most (1+ε)²(1+√5ε)(1+β), a radix-2 pass by
 * (1+ε)(1+√5ε)(1+β); the passes themselves are unitary but for a power of two, which is exact. Call the product over
 * all passes 1+φ.
 *
 * For z = x·y, Cauchy–Schwarz gives Σ|x̂_k·ŷ_k|/H ≤ ‖x‖₂‖y‖₂, and the inverse transform takes 1-norms to maximum norms
 * with the same pass factors, path by path [Per03]. Hence every coefficient of the computed z is within
 * ‖x‖₂·‖y‖₂·((1+φ)³(1+√5ε) − 1) of the exact one: `productError` of
 * `product-error.ts`. Rounding to the nearest integer is exact while this
 * is below 1/2; we require 1/4.
 *
 * [BPZ07] Brent, Percival, Zimmermann, Error bounds on complex floating-point multiplication, 2007. [Per03] Percival,
 * Rapid multiplication modulo the sum and difference of highly composite numbers, 2003.
 */
export interface NegacyclicFft {
  readonly dimension: number;
  /** In place, coefficients to spectrum. */
  forward(values: Float64Array): void;
  /** In place, spectrum to N/2 times the coefficients; the caller divides one factor of a product by N/2. */
  inverse(values: Float64Array): void;
}

/** cos and sin of π·numerator/denominator, the argument reduced exactly to [0, π/4] first. */
function twiddle(numerator: number, denominator: number): [cos: number, sin: number] {
  // One eighth of the circle is denominator/4 units; all of this is exact integer arithmetic.
  const circle = 2 * denominator;
  const turn = ((numerator % circle) + circle) % circle;
  const quadrant = Math.floor((2 * turn) / denominator);
  const within = turn - (quadrant * denominator) / 2;
  const reflected = 4 * within > denominator;
  const angle = (Math.PI * (reflected ? denominator / 2 - within : within)) / denominator;
  const c = reflected ? Math.sin(angle) : Math.cos(angle);
  const s = reflected ? Math.cos(angle) : Math.sin(angle);
  if (quadrant === 0) return [c, s];
  if (quadrant === 1) return [-s, c];
  if (quadrant === 2) return [-c, -s];
  return [s, -c];
}

/** One radix-4 pass: `blocks` residues modulo X^{4q} − ζ_b become four times as many modulo X^q − …. */
interface Pass {
  readonly blocks: number;
  readonly quarter: number;
  /** For block b: v, v², v³ of the comment above, real and imaginary, six doubles. */
  readonly twiddles: Float64Array;
}

/** The transform for polynomials with this many coefficients, a power of two. */
export function createNegacyclicFft(dimension: number): NegacyclicFft {
  requireWhole("the logarithm of an FFT's dimension", Math.log2(dimension), 4, 30);
  const half = dimension / 2;
  const { startsWithRadix2, passes } = planPasses(dimension);

  function forward(values: Float64Array): void {
    if (startsWithRadix2) radix2Forward(values, half);
    for (const pass of passes) radix4Forward(values, half, pass);
  }

  function inverse(values: Float64Array): void {
    for (const pass of passes.toReversed()) radix4Inverse(values, half, pass);
    if (startsWithRadix2) radix2Inverse(values, half);
  }

  return { dimension, forward, inverse };
}

function planPasses(dimension: number): { startsWithRadix2: boolean; passes: Pass[] } {
  const half = dimension / 2;
  const startsWithRadix2 = Math.log2(half) % 2 === 1;
  // Arguments of the current ζ, in units of π/N; that of X^H − i is N/2.
  let roots = startsWithRadix2 ? [dimension / 4, dimension / 4 + dimension] : [dimension / 2];
  let length = half / roots.length;
  const passes: Pass[] = [];
  while (length > 1) {
    const quarter = length / 4;
    const fourthRoots = roots.map((root) => root / 4);
    const twiddles = fourthRoots.flatMap((v) => [1, 2, 3].flatMap((power) => twiddle(power * v, dimension)));
    passes.push({ blocks: roots.length, quarter, twiddles: Float64Array.from(twiddles) });
    roots = fourthRoots.flatMap((v) => [0, 1, 2, 3].map((k) => (v + (k * dimension) / 2) % (2 * dimension)));
    length = quarter;
  }
  return { startsWithRadix2, passes };
}

function radix2Forward(x: Float64Array, half: number): void {
  const h = half / 2;
  for (let j = 0; j < h; j++) {
    const ar = x[j] as number;
    const ai = x[j + half] as number;
    const br = x[j + h] as number;
    const bi = x[j + h + half] as number;
    // b·exp(iπ/4)
    const wr = (br - bi) * Math.SQRT1_2;
    const wi = (br + bi) * Math.SQRT1_2;
    x[j] = ar + wr;
    x[j + half] = ai + wi;
    x[j + h] = ar - wr;
    x[j + h + half] = ai - wi;
  }
}

function radix2Inverse(x: Float64Array, half: number): void {
  const h = half / 2;
  for (let j = 0; j < h; j++) {
    const ar = x[j] as number;
    const ai = x[j + half] as number;
    const br = x[j + h] as number;
    const bi = x[j + h + half] as number;
    const dr = ar - br;
    const di = ai - bi;
    x[j] = ar + br;
    x[j + half] = ai + bi;
    x[j + h] = (di + dr) * Math.SQRT1_2;
    x[j + h + half] = (di - dr) * Math.SQRT1_2;
  }
}

function radix4Forward(x: Float64Array, half: number, { blocks, quarter, twiddles }: Pass): void {
  for (let block = 0; block < blocks; block++) {
    const w1r = twiddles[6 * block] as number;
    const w1i = twiddles[6 * block + 1] as number;
    const w2r = twiddles[6 * block + 2] as number;
    const w2i = twiddles[6 * block + 3] as number;
    const w3r = twiddles[6 * block + 4] as number;
    const w3i = twiddles[6 * block + 5] as number;
    const start = 4 * quarter * block;
    const end = start + quarter;
    for (let j0 = start; j0 < end; j0++) {
      const j1 = j0 + quarter;
      const j2 = j1 + quarter;
      const j3 = j2 + quarter;
      const x0r = x[j0] as number;
      const x0i = x[j0 + half] as number;
      const x1r = x[j1] as number;
      const x1i = x[j1 + half] as number;
      const x2r = x[j2] as number;
      const x2i = x[j2 + half] as number;
      const x3r = x[j3] as number;
      const x3i = x[j3 + half] as number;
      const a1r = x1r * w1r - x1i * w1i;
      const a1i = x1r * w1i + x1i * w1r;
      const a2r = x2r * w2r - x2i * w2i;
      const a2i = x2r * w2i + x2i * w2r;
      const a3r = x3r * w3r - x3i * w3i;
      const a3i = x3r * w3i + x3i * w3r;
      const s02r = x0r + a2r;
      const s02i = x0i + a2i;
      const d02r = x0r - a2r;
      const d02i = x0i - a2i;
      const s13r = a1r + a3r;
      const s13i = a1i + a3i;
      const d13r = a1r - a3r;
      const d13i = a1i - a3i;
      x[j0] = s02r + s13r;
      x[j0 + half] = s02i + s13i;
      x[j1] = d02r - d13i;
      x[j1 + half] = d02i + d13r;
      x[j2] = s02r - s13r;
      x[j2 + half] = s02i - s13i;
      x[j3] = d02r + d13i;
      x[j3 + half] = d02i - d13r;
    }
  }
}

function radix4Inverse(x: Float64Array, half: number, { blocks, quarter, twiddles }: Pass): void {
  for (let block = 0; block < blocks; block++) {
    const w1r = twiddles[6 * block] as number;
    const w1i = twiddles[6 * block + 1] as number;
    const w2r = twiddles[6 * block + 2] as number;
    const w2i = twiddles[6 * block + 3] as number;
    const w3r = twiddles[6 * block + 4] as number;
    const w3i = twiddles[6 * block + 5] as number;
    const start = 4 * quarter * block;
    const end = start + quarter;
    for (let j0 = start; j0 < end; j0++) {
      const j1 = j0 + quarter;
      const j2 = j1 + quarter;
      const j3 = j2 + quarter;
      const x0r = x[j0] as number;
      const x0i = x[j0 + half] as number;
      const x1r = x[j1] as number;
      const x1i = x[j1 + half] as number;
      const x2r = x[j2] as number;
      const x2i = x[j2 + half] as number;
      const x3r = x[j3] as number;
      const x3i = x[j3 + half] as number;
      const s02r = x0r + x2r;
      const s02i = x0i + x2i;
      const d02r = x0r - x2r;
      const d02i = x0i - x2i;
      const s13r = x1r + x3r;
      const s13i = x1i + x3i;
      const d13r = x1r - x3r;
      const d13i = x1i - x3i;
      const a1r = d02r + d13i;
      const a1i = d02i - d13r;
      const a2r = s02r - s13r;
      const a2i = s02i - s13i;
      const a3r = d02r - d13i;
      const a3i = d02i + d13r;
      x[j0] = s02r + s13r;
      x[j0 + half] = s02i + s13i;
      x[j1] = a1r * w1r + a1i * w1i;
      x[j1 + half] = a1i * w1r - a1r * w1i;
      x[j2] = a2r * w2r + a2i * w2i;
      x[j2 + half] = a2i * w2r - a2r * w2i;
      x[j3] = a3r * w3r + a3i * w3i;
      x[j3 + half] = a3i * w3r - a3r * w3i;
    }
  }
}
