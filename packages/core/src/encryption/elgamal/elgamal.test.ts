import { hexToBytes } from "@noble/hashes/utils.js";
import { describe, expect, it } from "vitest";
import { coordinatesOf } from "../../../test/coordinates.ts";
import { seededRandomnessForTests } from "../../randomness/index.ts";
import { createDiscreteLog, multiplyByInteger } from "./discrete-log.ts";
import { createElGamalCounter, elgamalGroup } from "./elgamal.ts";
import { nobleGroup } from "./noble-group.ts";
import { BASE, IDENTITY } from "./ristretto.ts";

const random = seededRandomnessForTests("elgamal");
/** RFC 9496, A.2: a canonical, non-negative field element that is the s of no group element. */
const NO_SQUARE = hexToBytes("26948d35ca62e643e26a83177332e6b6afeb9d08e4268b650f1f5bbd8d81d371");

describe("the discrete logarithm over a known range", () => {
  it("finds every integer of a small range, and nothing outside", () => {
    const log = createDiscreteLog(-7, 12, nobleGroup);
    for (let m = -7; m <= 12; m++) expect(log(multiplyByInteger(BASE, m).toBytes())).toBe(m);
    for (const m of [-8, 13, 100, -100]) expect(log(multiplyByInteger(BASE, m).toBytes())).toBeUndefined();
  });

  it("takes giant steps where the range is larger than its table", () => {
    const log = createDiscreteLog(-50_000, 1_000_000, nobleGroup);
    for (const m of [-50_000, -1, 0, 8_191, 8_192, 777_777, 1_000_000]) {
      expect(log(multiplyByInteger(BASE, m).toBytes())).toBe(m);
    }
    for (const m of [-50_001, 1_000_001]) expect(log(multiplyByInteger(BASE, m).toBytes())).toBeUndefined();
  });

  it("refuses bounds that make no range, or one too wide to search", () => {
    for (const [minimum, maximum] of [
      [1, 0],
      [0.5, 3],
      [0, 2 ** 33],
      [Number.NaN, 1],
    ] as [number, number][]) {
      expect(() => createDiscreteLog(minimum, maximum, nobleGroup)).toThrow(RangeError);
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

  it("opens bytes to what decoding and decrypting them gives, and to nothing where that would throw", () => {
    const scheme = createElGamalCounter({ minimum: -3, maximum: 20_000 });
    const { publicKey, secretKey } = scheme.generateKeys(random);
    for (const message of [-3, -1, 0, 1, 8188, 8189, 8190, 20_000, -4, 20_001, 8192 * 3 - 3]) {
      const bytes = scheme.encode(scheme.encrypt(publicKey, message, random));
      expect(scheme.open(secretKey, bytes)).toBe(message >= -3 && message <= 20_000 ? message : undefined);
      expect(scheme.open(scheme.generateKeys(random).secretKey, bytes)).toBeUndefined();
      for (const half of [bytes.subarray(0, 32), bytes.subarray(32)]) {
        const before = half.slice();
        for (const bad of [new Uint8Array(32).fill(0xff), Uint8Array.of(1, ...before.subarray(1)), NO_SQUARE]) {
          half.set(bad);
          expect(scheme.open(secretKey, bytes)).toBeUndefined();
        }
        half.set(before);
      }
    }
    const trivial = { ephemeral: IDENTITY, masked: BASE };
    expect(scheme.open(secretKey, scheme.encode(trivial))).toBe(1);
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
      expect(coordinatesOf(ciphertext.ephemeral)).toEqual(coordinatesOf(decoded.ephemeral));
      expect(coordinatesOf(ciphertext.masked)).toEqual(coordinatesOf(decoded.masked));
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
