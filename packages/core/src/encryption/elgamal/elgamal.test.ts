import { describe, expect, it } from "vitest";
import { seededRandomnessForTests } from "../../randomness/index.ts";
import { createDiscreteLog, multiplyByInteger } from "./discrete-log.ts";
import { createElGamalCounter, elgamalGroup } from "./elgamal.ts";
import { BASE, IDENTITY } from "./ristretto.ts";

const random = seededRandomnessForTests("elgamal");

describe("the discrete logarithm over a known range", () => {
  it("finds every integer of a small range, and nothing outside", () => {
    const log = createDiscreteLog(-7, 12);
    for (let m = -7; m <= 12; m++) expect(log(multiplyByInteger(BASE, m))).toBe(m);
    for (const m of [-8, 13, 100, -100]) expect(log(multiplyByInteger(BASE, m))).toBeUndefined();
  });

  it("takes giant steps where the range is larger than its table", () => {
    const log = createDiscreteLog(-50_000, 1_000_000);
    for (const m of [-50_000, -1, 0, 8_191, 8_192, 777_777, 1_000_000]) {
      expect(log(multiplyByInteger(BASE, m))).toBe(m);
    }
    for (const m of [-50_001, 1_000_001]) expect(log(multiplyByInteger(BASE, m))).toBeUndefined();
  });

  it("refuses bounds that make no range, or one too wide to search", () => {
    for (const [minimum, maximum] of [
      [1, 0],
      [0.5, 3],
      [0, 2 ** 33],
      [Number.NaN, 1],
    ] as [number, number][]) {
      expect(() => createDiscreteLog(minimum, maximum)).toThrow(RangeError);
    }
  });
});

describe("elgamal", () => {
  it("names a counter outside the range, and a ciphertext under another key, undecryptable", () => {
    const scheme = createElGamalCounter({ minimum: 0, maximum: 10 });
    const { publicKey, secretKey } = scheme.generateKeys(random);
    const other = scheme.generateKeys(random);
    expect(() => scheme.decrypt(secretKey, scheme.encrypt(publicKey, 11, random))).toThrow(
      expect.objectContaining({ code: "undecryptable" }),
    );
    expect(() => scheme.decrypt(other.secretKey, scheme.encrypt(publicKey, 1, random))).toThrow(
      expect.objectContaining({ code: "undecryptable" }),
    );
  });

  it("rerandomizing changes both halves, so no half links two versions", () => {
    const { publicKey } = elgamalGroup.generateKeys(random);
    const before = elgamalGroup.encrypt(publicKey, BASE, random);
    const after = elgamalGroup.rerandomize(publicKey, before, random);
    expect(after.ephemeral.equals(before.ephemeral)).toBe(false);
    expect(after.masked.equals(before.masked)).toBe(false);
  });

  it("keeps canonical coordinates, so that memory does not show which operation made a ciphertext", () => {
    const scheme = createElGamalCounter({ minimum: -10, maximum: 10 });
    const { publicKey } = scheme.generateKeys(random);
    const coordinates = (point: unknown): unknown => {
      const { X, Y, Z, T } = (point as { ep: Record<string, bigint> }).ep;
      return [X, Y, Z, T];
    };
    const one = scheme.encrypt(publicKey, 1, random);
    const made = {
      encrypted: one,
      rerandomized: scheme.rerandomize(publicKey, one, random),
      twice: scheme.rerandomize(publicKey, scheme.rerandomize(publicKey, one, random), random),
      added: scheme.add(one, one),
      scaled: scheme.scale(-3, one),
    };
    for (const ciphertext of Object.values(made)) {
      const decoded = scheme.decode(scheme.encode(ciphertext));
      expect(coordinates(ciphertext.ephemeral)).toEqual(coordinates(decoded.ephemeral));
      expect(coordinates(ciphertext.masked)).toEqual(coordinates(decoded.masked));
    }
  });

  it("refuses the identity as a public key", () => {
    expect(() => elgamalGroup.decodePublicKey(IDENTITY.toBytes())).toThrow("the identity is not a public key");
  });

  it("opens the trivial ciphertext", () => {
    const { secretKey } = elgamalGroup.generateKeys(random);
    expect(elgamalGroup.decrypt(secretKey, { ephemeral: IDENTITY, masked: BASE }).equals(BASE)).toBe(true);
  });
});
