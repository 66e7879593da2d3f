import { describe, expect, it } from "vitest";
import { fastRandomness } from "../../../test/fast-randomness.ts";
import { expandedA, noiseOf } from "../../../test/lattice-noise.ts";
import { createLattice } from "./lattice.ts";
import { noiseVariance } from "./noise-history.ts";
import { LATTICE_SETS, type LatticeParameters } from "./parameters.ts";

const L1 = LATTICE_SETS[0];
const random = fastRandomness("lattice");

function standardDeviation(samples: readonly Float64Array[]): number {
  const squares = samples.reduce((sum, sample) => sum + sample.reduce((inner, x) => inner + x * x, 0), 0);
  return Math.sqrt(squares / samples.reduce((sum, { length }) => sum + length, 0));
}

describe("the noise", () => {
  for (const parameters of LATTICE_SETS) {
    it(`of ${parameters.set} ${parameters.dimension} has the formula's standard deviation within 2%`, () => {
      const scheme = createLattice(parameters, 1);
      for (const encryptions of [1, 7]) {
        // Over keys as well as encryptions: for one key the norms of s and e shift it by a percent or so.
        const samples = Array.from({ length: 60 }, () => {
          const { publicKey, secretKey } = scheme.generateKeys(random);
          const ciphertext = scheme.trivial();
          scheme.addEncryptionsOfZero(publicKey, ciphertext, encryptions, random);
          return noiseOf(scheme, secretKey)(ciphertext);
        });
        const ratio = standardDeviation(samples) / Math.sqrt(noiseVariance(parameters, { encryptions }));
        expect(ratio).toBeGreaterThan(0.98);
        expect(ratio).toBeLessThan(1.02);
      }
    });
  }

  it("grows by the 2-norm of a polynomial, as the formula says, within 2%", () => {
    const scheme = createLattice(L1, 1);
    const multipliedBy = new Int32Array(1024).fill(1, 0, 50);
    const samples = Array.from({ length: 400 }, () => {
      const { publicKey, secretKey } = scheme.generateKeys(random);
      const ciphertext = scheme.trivial();
      scheme.addEncryptionsOfZero(publicKey, ciphertext, 3, random);
      scheme.multiply(ciphertext, multipliedBy);
      scheme.addEncryptionsOfZero(publicKey, ciphertext, 1, random);
      return noiseOf(scheme, secretKey)(ciphertext);
    });
    const expected = noiseVariance(L1, { encryptions: 3, multipliedBy: () => multipliedBy, encryptionsAfter: 1 });
    expect(expected / noiseVariance(L1, { encryptions: 1 })).toBeCloseTo(3 * 50 + 1, 6);
    expect(Math.abs(standardDeviation(samples) / Math.sqrt(expected) - 1)).toBeLessThan(0.02);
  });

  it("added 3,000 at once decrypts like 3,000 added one by one", () => {
    const scheme = createLattice(L1, 4);
    const { publicKey, secretKey } = scheme.generateKeys(random);
    const together = scheme.trivial();
    scheme.addEncryptionsOfZero(publicKey, together, 3000, random);
    const ratio =
      standardDeviation([noiseOf(scheme, secretKey)(together)]) / Math.sqrt(noiseVariance(L1, { encryptions: 3000 }));
    // One key and one ciphertext: 1,024 coefficients and the key's norms.
    expect(Math.abs(ratio - 1)).toBeLessThan(0.15);
    expect(scheme.decrypt(secretKey, together).every((slot) => slot === 0)).toBe(true);
  });
});

describe("the in-place operations", () => {
  const scheme = createLattice(L1, 4);
  const { publicKey, secretKey } = scheme.generateKeys(random);

  it("rotate moves slot j to j + k, with the sign changed past the end", () => {
    const ciphertext = scheme.trivial();
    scheme.addToSlot(ciphertext, 3, 5);
    scheme.addToSlot(ciphertext, 1020, 7);
    scheme.addEncryptionsOfZero(publicKey, ciphertext, 1, random);
    scheme.rotate(ciphertext, 10);
    const opened = scheme.decrypt(secretKey, ciphertext);
    expect(opened[13]).toBe(5);
    expect(opened[6]).toBe(16 - 7);
    expect(opened.reduce((sum, value) => sum + value, 0)).toBe(5 + 9);
  });

  it("addToSlot counts modulo t in every set, at both ends of the slot range", () => {
    for (const [parameters, plaintextBits] of [
      ...LATTICE_SETS.map((set) => [set, 4] as const),
      [LATTICE_SETS[2], 20],
      [LATTICE_SETS[2], 25],
      [LATTICE_SETS[2], 26],
      [LATTICE_SETS[2], 30],
      [LATTICE_SETS[4], 30],
    ] as [LatticeParameters, number][]) {
      const wide = createLattice(parameters, plaintextBits);
      const keys = wide.generateKeys(random);
      const t = 2 ** plaintextBits;
      const last = parameters.dimension - 1;
      const ciphertext = wide.trivial();
      wide.addEncryptionsOfZero(keys.publicKey, ciphertext, 2, random);
      for (const value of [t - 1, t - 1, 5]) wide.addToSlot(ciphertext, 0, value);
      wide.addToSlot(ciphertext, last, t - 1);
      const opened = wide.decrypt(keys.secretKey, ciphertext);
      expect([opened[0], opened[1], opened[last]]).toEqual([3, 0, t - 1]);
    }
  });

  it("leave the ciphertext alone if randomness fails half-way", () => {
    const ciphertext = scheme.trivial();
    let draws = 0;
    const failing = (into: Uint8Array): void => {
      if (++draws === 3) throw new Error("no more randomness");
      random(into);
    };
    expect(() => scheme.addEncryptionsOfZero(publicKey, ciphertext, 1, failing)).toThrow("no more randomness");
    expect(ciphertext).toEqual(scheme.trivial());
  });

  it("refuse slots and values that do not exist", () => {
    const ciphertext = scheme.trivial();
    for (const slot of [-1, 1024, 0.5]) expect(() => scheme.addToSlot(ciphertext, slot, 1)).toThrow(RangeError);
    for (const value of [-1, 16, 0.5]) expect(() => scheme.addToSlot(ciphertext, 0, value)).toThrow(RangeError);
    expect(() => scheme.addEncryptionsOfZero(publicKey, ciphertext, -1, random)).toThrow(RangeError);
    expect(() => scheme.encrypt(publicKey, new Int32Array(3), random)).toThrow("a message has 1024 slots, not 3");
    for (const bits of [0, 25, 1.5]) expect(() => createLattice(L1, bits)).toThrow(RangeError);
    // log q = 50 at N = 1024 would be insecure.
    expect(() => createLattice({ ...L1, limbs: 2 }, 4)).toThrow("not one of LATTICE_SETS");
    expect(() => scheme.rotate(ciphertext, 0.5)).toThrow(RangeError);
    expect(() => scheme.multiply(ciphertext, new Int32Array(3))).toThrow("1024 coefficients, not 3");
  });
});

describe("keys", () => {
  const scheme = createLattice(L1, 4);

  it("b + a·s = −e is small: the noise of the public key has standard deviation 3.24", () => {
    const errors = Array.from({ length: 30 }, () => {
      const { publicKey, secretKey } = scheme.generateKeys(random);
      return noiseOf(scheme, secretKey)({ c0: expandedA(publicKey), c1: publicKey.b });
    });
    expect(Math.abs(standardDeviation(errors) / Math.sqrt(10.5) - 1)).toBeLessThan(0.02);
  });

  it("under another key an encryption opens to noise", () => {
    const { publicKey } = scheme.generateKeys(random);
    const other = scheme.generateKeys(random);
    const opened = scheme.decrypt(other.secretKey, scheme.encrypt(publicKey, new Int32Array(1024), random));
    const counts = new Array<number>(16).fill(0);
    for (const slot of opened) counts[slot] = (counts[slot] as number) + 1;
    // Uniform over 16 values: χ² with 15 degrees of freedom, 1 − 1e-6 quantile 56.5.
    expect(counts.reduce((sum, count) => sum + (count - 64) ** 2 / 64, 0)).toBeLessThan(56.5);
  });

  it("an all-zero b is refused", () => {
    expect(() => scheme.decodePublicKey(new Uint8Array(scheme.publicKeyBytes))).toThrow("zero is not a public key");
  });
});

describe("arrays that are used again", () => {
  const seeded = (seed: number) => fastRandomness(`key ${seed}`);

  it.each(LATTICE_SETS)(
    "an issued key of $set $dimension is that of generateKeys, also after a draw that failed",
    (parameters) => {
      const scheme = createLattice(parameters, 1);
      for (let i = 0; i < 10; i++) {
        // After the seed, s, or s and e.
        let left = i % 4;
        const failing = (into: Uint8Array): void => {
          if (left-- === 0) throw new Error("no randomness");
          random(into);
        };
        if (i % 4 < 3) expect(() => scheme.issueKey(failing)).toThrow("no randomness");
        expect(scheme.issueKey(seeded(i))).toEqual(scheme.encodePublicKey(scheme.generateKeys(seeded(i)).publicKey));
      }
    },
  );

  it("a ciphertext and a message are as they were after others were decrypted", () => {
    const scheme = createLattice(L1, 4);
    const { publicKey, secretKey } = scheme.generateKeys(random);
    const messages = [3, 5].map((value) => new Int32Array(1024).fill(value));
    const ciphertexts = messages.map((message) => scheme.encrypt(publicKey, message, random));
    const encoded = ciphertexts.map(scheme.encode);
    expect(ciphertexts.map((ciphertext) => scheme.decrypt(secretKey, ciphertext))).toEqual(messages);
    expect(ciphertexts.map(scheme.encode)).toEqual(encoded);
  });
});
