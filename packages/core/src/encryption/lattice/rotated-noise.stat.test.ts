import { describe, expect, it } from "vitest";
import { fastRandomness } from "../../../test/fast-randomness.ts";
import { expandedA, noiseOf } from "../../../test/lattice-noise.ts";
import { addCentredBinomial } from "../../randomness/index.ts";
import type { LatticeCiphertext } from "./ciphertext.ts";
import { createLattice } from "./lattice.ts";
import { addElement } from "./limbs.ts";
import { LATTICE_SETS } from "./parameters.ts";
import { ringOf } from "./ring.ts";

const L1 = LATTICE_SETS[0];

describe("X^k·Enc(0) and Enc(0) have the same distribution for the key holder", () => {
  const random = fastRandomness("rotations");
  const scheme = createLattice(L1, 1);
  const { publicKey, secretKey } = scheme.generateKeys(random);
  const noise = noiseOf(scheme, secretKey);
  const ENCRYPTIONS = 8000;
  // Five standard deviations of a normal variable: false alarms below 6e-7 a comparison.
  const ALARM = 5;

  /**
   * Samples of mean m ≠ 0 would give the noise −e·u + e₂ + e₁·s a mean: −m·e·(1 + X + … + X^{N−1}) for u, m·(1 + s)·(1
   * + X + …) for the errors; and rotating by k would change it. The projection onto that difference tells X^k·Enc(0)
   * from Enc(0) best; here in units of its own standard deviation. The key holder knows s and e = −(b + a·s).
   */
  function distinguish(
    addEncryption: (ciphertext: LatticeCiphertext) => void,
    k: number,
    biased: "u" | "errors",
  ): number {
    const ofErrors = Float64Array.from(secretKey.reveal()).map((digit, i) => digit + Number(i === 0));
    const mean = timesOnes(biased === "u" ? noise({ c0: expandedA(publicKey), c1: publicKey.b }) : ofErrors);
    const rotated = rotate(mean, k);
    const difference = mean.map((x, i) => x - (rotated[i] as number));
    const scores = Array.from({ length: ENCRYPTIONS }, (_, i) => {
      const ciphertext = scheme.trivial();
      addEncryption(ciphertext);
      if (i % 2 === 1) scheme.rotate(ciphertext, k);
      const projection = noise(ciphertext).reduce((sum, x, j) => sum + x * (difference[j] as number), 0);
      return i % 2 === 0 ? projection : -projection;
    });
    const average = scores.reduce((sum, score) => sum + score, 0) / ENCRYPTIONS;
    const variance = scores.reduce((sum, score) => sum + (score - average) ** 2, 0) / (ENCRYPTIONS - 1);
    return Math.abs(average) / Math.sqrt(variance / ENCRYPTIONS);
  }

  /** x·(1 + … + X^{N−1}). */
  function timesOnes(x: Float64Array): Float64Array {
    const total = x.reduce((sum, value) => sum + value, 0);
    let upTo = 0;
    return x.map((value) => {
      upTo += value;
      return 2 * upTo - total;
    });
  }

  /** x·X^k for 0 ≤ k ≤ N. */
  function rotate(x: Float64Array, k: number): Float64Array {
    return x.map((_, i) => (i >= k ? (x[i - k] as number) : -(x[i - k + 1024] as number)));
  }

  /** One encryption of zero, but u from bytes modulo 3, in which −1 is more frequent by 1/256. */
  function addBiasedEncryption({ c0, c1 }: LatticeCiphertext): void {
    const ring = ringOf(L1);
    const bytes = new Uint8Array(1024);
    random(bytes);
    const u = ring.transformSmall(Int32Array.from(bytes, (byte) => (byte % 3) - 1));
    for (const [c, spectra] of [
      [c0, publicKey.aSpectra],
      [c1, publicKey.bSpectra],
    ] as const) {
      const error = new Int32Array(1024);
      addCentredBinomial(random, error);
      ring.addProduct(c, spectra, u, error);
    }
  }

  it.each([1, 40])("no rotation is told apart, of %i encryptions at once", (count) => {
    const honest = (c: LatticeCiphertext): void => scheme.addEncryptionsOfZero(publicKey, c, count, random);
    for (const k of [1, 512, 1024]) {
      for (const biased of ["u", "errors"] as const) expect(distinguish(honest, k, biased)).toBeLessThan(ALARM);
    }
  });

  it("the same test tells them apart when u is drawn as a byte modulo 3", () => {
    expect(distinguish(addBiasedEncryption, 1024, "u")).toBeGreaterThan(ALARM);
  });

  it("and when errors have mean 1/4", () => {
    const ring = ringOf(L1);
    let round = 0;
    const biased = (c: LatticeCiphertext): void => {
      scheme.addEncryptionsOfZero(publicKey, c, 1, random);
      const shift = ring.zero().fill(round++ % 8 < 2 ? 1 : 0); // on rotated and unrotated ones alike
      addElement(L1, c.c0, shift);
      addElement(L1, c.c1, shift);
    };
    expect(distinguish(biased, 1024, "errors")).toBeGreaterThan(ALARM);
  });
});
