import { describe, expect, it } from "vitest";
import { seededRandomnessForTests } from "../../randomness/index.ts";
import { chooseLattice } from "./choose.ts";
import { compactBytes, decodeCompact, encodeCompact } from "./compact.ts";
import { createLattice } from "./lattice.ts";
import { log2FailureBound, noiseVariance } from "./noise-history.ts";
import { LATTICE_SETS } from "./parameters.ts";

const L1 = LATTICE_SETS[0];
const firstTerms = (terms: number) => (dimension: number) => new Int32Array(dimension).fill(1, 0, terms);
const random = seededRandomnessForTests("failure bound");

/** log₂ of Chernoff's 2·E[e^{λZ}]·e^{−λB}, with E computed exactly over all samples, for unmultiplied encryptions. */
function exactLog2Chernoff(N: number, encryptions: number, margin: number): number {
  const binomial: [value: number, probability: number][] = [];
  let ways = 1;
  for (let ones = 0; ones <= 42; ones++) {
    binomial.push([ones - 21, ways / 2 ** 42]);
    ways = (ways * (42 - ones)) / (ones + 1);
  }
  const logTernary = (x: number): number => Math.log((1 + 2 * Math.cosh(x)) / 3);
  const logBinomial = (x: number): number => 42 * Math.log(Math.cosh(x / 2));
  const at = (lambda: number): number => {
    const overE = binomial.reduce((sum, [e, p]) => sum + p * Math.exp(encryptions * logTernary(lambda * e)), 0);
    const overS = (1 + 2 * Math.exp(encryptions * logBinomial(lambda))) / 3;
    return Math.LN2 - lambda * margin + N * (Math.log(overE) + Math.log(overS)) + encryptions * logBinomial(lambda);
  };
  const centre = margin / (encryptions * 10.5 * ((4 * N) / 3 + 1));
  const grid = Array.from({ length: 2000 }, (_, i) => at((centre * (i + 1)) / 1000));
  return Math.min(...grid) / Math.LN2;
}

describe("the failure bound", () => {
  it("is never below the exact Chernoff bound over all samples, and close to it", () => {
    for (const [encryptions, plaintextBits] of [
      [1, 14],
      [100, 11],
      [1153, 9],
      [100_000, 6],
    ] as [number, number][]) {
      const bound = log2FailureBound(L1, plaintextBits, { encryptions })();
      const exact = Math.max(exactLog2Chernoff(1024, encryptions, 2 ** (25 - plaintextBits - 1)), -1000);
      if (exact === -1000) expect(bound).toBeLessThan(-900);
      else {
        expect(bound).toBeGreaterThanOrEqual(exact - 1e-6);
        expect(bound).toBeLessThan(exact * 0.97 + 0.1);
      }
    }
  });

  it("holds where failures are frequent enough to count: measured below bound, bound within a factor of 50", () => {
    const cases = [
      { plaintextBits: 15, history: { encryptions: 2 }, kept: { c0Bits: 25, c1Bits: 25 } },
      { plaintextBits: 4, history: { encryptions: 10 }, kept: { c0Bits: 10, c1Bits: 8 } },
      { plaintextBits: 4, history: { encryptions: 10 }, kept: { c0Bits: 12, c1Bits: 4 } },
      {
        plaintextBits: 10,
        history: { encryptions: 20, multipliedBy: firstTerms(200), encryptionsAfter: 1 },
        kept: { c0Bits: 25, c1Bits: 25 },
      },
    ];
    for (const { plaintextBits, history, kept } of cases) {
      const scheme = createLattice(L1, plaintextBits);
      const format = { ...kept, reads: Array.from({ length: 1024 }, (_, i) => i) };
      const rounds = 300;
      let failures = 0;
      for (let round = 0; round < rounds; round++) {
        const { publicKey, secretKey } = scheme.generateKeys(random);
        const ciphertext = scheme.trivial();
        scheme.addEncryptionsOfZero(publicKey, ciphertext, history.encryptions, random);
        if (history.multipliedBy) scheme.multiply(ciphertext, history.multipliedBy(1024));
        if (history.encryptionsAfter) scheme.addEncryptionsOfZero(publicKey, ciphertext, 1, random);
        const received = decodeCompact(L1, format, encodeCompact(L1, format, ciphertext));
        failures += scheme.decrypt(secretKey, received).reduce((sum, slot) => sum + (slot === 0 ? 0 : 1), 0);
      }
      const measured = failures / (rounds * 1024);
      const bound = 2 ** log2FailureBound(L1, plaintextBits, history)(kept);
      expect(measured).toBeLessThanOrEqual(bound);
      // Chernoff is no more than a small factor from the truth; a bound that says nothing would not pass.
      expect(bound).toBeLessThanOrEqual(Math.max(50 * measured, 2 ** -10));
    }
  });

  it("is monotone: more encryptions, longer polynomials, fewer bits kept never look safer", () => {
    const at = (encryptions: number, terms: number, c0Bits: number, c1Bits: number): number =>
      log2FailureBound(L1, 3, { encryptions, multipliedBy: firstTerms(terms) })({
        c0Bits,
        c1Bits,
      });
    expect(at(200, 1, 14, 8)).toBeGreaterThanOrEqual(at(100, 1, 14, 8));
    expect(at(100, 20, 14, 8)).toBeGreaterThanOrEqual(at(100, 10, 14, 8));
    expect(at(100, 10, 11, 8)).toBeGreaterThanOrEqual(at(100, 10, 12, 8));
    expect(at(100, 10, 12, 6)).toBeGreaterThanOrEqual(at(100, 10, 12, 7));
    expect(at(100, 10, 12, 3)).toBe(0);
  });

  it("gives the noise of one L1 encryption as about 120", () => {
    expect(Math.sqrt(noiseVariance(L1, { encryptions: 1 }))).toBeCloseTo(119.8, 1);
  });
});

describe("choosing parameters", () => {
  it("a day's ledger at t = 16 takes the first set, a state of 6.4 kB and a report below 2.5 kB", () => {
    const { parameters, format, log2Failure } = chooseLattice({ plaintextBits: 4, slots: 1024, encryptions: 1153 });
    expect(parameters).toEqual({ set: "L1", dimension: 1024, limbs: 1 });
    expect(createLattice(parameters, 4).ciphertextBytes).toBe(6400);
    expect(compactBytes(parameters, format)).toBeLessThanOrEqual(2500);
    expect(log2Failure).toBeLessThan(-40);
  });

  it("takes longer sets for length, L2 for large plaintexts, and sends only the slots that are read", () => {
    const set = (need: Parameters<typeof chooseLattice>[0]): string => {
      const { parameters } = chooseLattice(need);
      return `${parameters.set} ${parameters.dimension}`;
    };
    expect(set({ plaintextBits: 4, slots: 1025, encryptions: 100 })).toBe("L1 2048");
    expect(set({ plaintextBits: 4, slots: 3000, encryptions: 100 })).toBe("L1 4096");
    expect(set({ plaintextBits: 20, slots: 1000, encryptions: 100 })).toBe("L2 2048");
    expect(set({ plaintextBits: 20, slots: 2049, encryptions: 100 })).toBe("L2 4096");
    const few = chooseLattice({ plaintextBits: 4, slots: 1024, encryptions: 100, reads: [0, 5, 9] });
    expect(compactBytes(few.parameters, few.format)).toBeLessThan(1024 * 2);
  });

  it("shortest means shortest: one bit less of either part breaks the bound", () => {
    const { parameters, format } = chooseLattice({ plaintextBits: 4, slots: 1024, encryptions: 1153 });
    const bound = log2FailureBound(parameters, 4, { encryptions: 1153 });
    expect(bound({ ...format, c0Bits: format.c0Bits - 1 })).toBeGreaterThan(-40);
    expect(bound({ ...format, c1Bits: format.c1Bits - 1 })).toBeGreaterThan(-40);
  });

  it("refuses needs that are not numbers of anything, by name", () => {
    const need = { plaintextBits: 4, slots: 1024, encryptions: 10 };
    for (const name of ["plaintextBits", "slots", "encryptions"] as const) {
      for (const value of [0, -3, 1.5, Number.NaN])
        expect(() => chooseLattice({ ...need, [name]: value })).toThrow(name);
    }
    expect(() => chooseLattice({ ...need, encryptionsAfter: -1 })).toThrow("encryptionsAfter");
    expect(() => chooseLattice({ ...need, reads: [1024] })).toThrow("reads");
    expect(() => chooseLattice({ ...need, plaintextBits: 31 })).toThrow("lower plaintextBits");
    expect(() => chooseLattice({ ...need, multipliedBy: () => new Int32Array(7) })).toThrow("1024 coefficients, not 7");
  });

  it("refuses what no set can do, with a sentence that says what to lower", () => {
    expect(() => chooseLattice({ plaintextBits: 4, slots: 5000, encryptions: 10 })).toThrow(
      "a ciphertext has at most 4096 slots and 5000 are needed: lower slots",
    );
    expect(() => chooseLattice({ plaintextBits: 30, slots: 2048, encryptions: 1e9 })).toThrow(
      "lower plaintextBits or encryptions",
    );
  });
});
