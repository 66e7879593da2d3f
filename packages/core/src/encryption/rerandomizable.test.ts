import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fastRandomness } from "../../test/fast-randomness.ts";
import { paillier } from "../../test/paillier.ts";
import { LetheError } from "../error.ts";
import { createElGamalCounter, elgamalGroup } from "./elgamal/elgamal.ts";
import { BASE } from "./elgamal/ristretto.ts";
import { createLattice } from "./lattice/lattice.ts";
import { LATTICE_SETS, type LatticeParameters } from "./lattice/parameters.ts";
import type { AdditiveScheme, RerandomizableScheme } from "./rerandomizable.ts";

const CASES_PER_CODEC = 10_000;

interface Codec<T> {
  readonly what: string;
  readonly bytes: number;
  readonly encode: (value: T) => Uint8Array;
  readonly decode: (bytes: Uint8Array) => T;
  readonly value: T;
}

/** Everything an honest codec promises about bytes from outside. */
function codecLaws<T>({ what, bytes, encode, decode, value }: Codec<T>): void {
  const valid = encode(value);

  it(`${what}: decode inverts encode, in ${bytes} bytes`, () => {
    expect(valid.length).toBe(bytes);
    expect(encode(decode(valid))).toEqual(valid);
  });

  it(`${what}: random, altered, truncated or extended bytes are refused by name, or are canonical`, () => {
    const altered = fc
      .array(fc.tuple(fc.nat(bytes - 1), fc.integer({ min: 1, max: 255 })), { minLength: 1, maxLength: 3 })
      .map((changes) => {
        const copy = valid.slice();
        for (const [at, change] of changes) copy[at] = (copy[at] as number) ^ change;
        return copy;
      });
    const resized = fc.oneof(fc.nat(bytes - 1), fc.integer({ min: bytes + 1, max: bytes + 64 })).map((length) => {
      const resized = new Uint8Array(length);
      resized.set(valid.subarray(0, length));
      return resized;
    });
    const random = fc.nat().map((seed) => {
      const noise = new Uint8Array(bytes);
      fastRandomness(seed)(noise);
      return noise;
    });
    let refused = 0;
    fc.assert(
      fc.property(fc.oneof(altered, resized, random), (candidate) => {
        try {
          // Whatever is accepted must be the one encoding of what it decodes to.
          expect(sameBytes(encode(decode(candidate)), candidate)).toBe(true);
          expect(candidate.length).toBe(bytes);
        } catch (error) {
          if (!(error instanceof LetheError)) throw error;
          expect(error.code).toBe("bad-encoding");
          refused++;
        }
      }),
      { numRuns: CASES_PER_CODEC },
    );
    // A third of the cases have the wrong length.
    expect(refused).toBeGreaterThan(CASES_PER_CODEC / 4);
  });
}

/** `toEqual` on arrays of thousands of bytes would take most of the test's time. */
function sameBytes(left: Uint8Array, right: Uint8Array): boolean {
  return Buffer.compare(left, right) === 0;
}

interface Subject<Message, PublicKey, SecretKey, Ciphertext> {
  readonly scheme: RerandomizableScheme<Message, PublicKey, SecretKey, Ciphertext>;
  readonly messages: fc.Arbitrary<Message>;
  readonly same: (left: Message, right: Message) => boolean;
  readonly rerandomizations: number;
}

function rerandomizableLaws<M, P, S, C>({ scheme, messages, same, rerandomizations }: Subject<M, P, S, C>): void {
  const random = fastRandomness(`laws of ${scheme.id}`);
  const { publicKey, secretKey } = scheme.generateKeys(random);
  const [example] = fc.sample(messages, 1) as [M];

  it("decrypts what was encrypted, also after encoding, decoding and rerandomizing", () => {
    fc.assert(
      fc.property(messages, (message) => {
        const ciphertext = scheme.encrypt(scheme.decodePublicKey(scheme.encodePublicKey(publicKey)), message, random);
        const again = scheme.rerandomize(publicKey, scheme.decode(scheme.encode(ciphertext)), random);
        expect(same(scheme.decrypt(secretKey, ciphertext), message)).toBe(true);
        expect(same(scheme.decrypt(secretKey, again), message)).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  it(`decrypts correctly after ${rerandomizations} rerandomizations, no two ciphertexts alike`, () => {
    let ciphertext = scheme.encrypt(publicKey, example, random);
    const seen = new Set<string>();
    for (let i = 0; i < rerandomizations; i++) {
      ciphertext = scheme.rerandomize(publicKey, ciphertext, random);
      if (i % 100 === 0) seen.add(scheme.encode(ciphertext).join());
    }
    expect(seen.size).toBe(Math.ceil(rerandomizations / 100));
    expect(same(scheme.decrypt(secretKey, ciphertext), example)).toBe(true);
  });

  it("rerandomizing leaves the old ciphertext as it was", () => {
    const ciphertext = scheme.encrypt(publicKey, example, random);
    const before = scheme.encode(ciphertext);
    const after = scheme.encode(scheme.rerandomize(publicKey, ciphertext, random));
    expect(sameBytes(scheme.encode(ciphertext), before)).toBe(true);
    expect(sameBytes(after, before)).toBe(false);
  });

  codecLaws({
    what: "ciphertext",
    bytes: scheme.ciphertextBytes,
    encode: scheme.encode,
    decode: scheme.decode,
    value: scheme.encrypt(publicKey, example, random),
  });
  codecLaws({
    what: "public key",
    bytes: scheme.publicKeyBytes,
    encode: scheme.encodePublicKey,
    decode: scheme.decodePublicKey,
    value: publicKey,
  });
}

interface AdditiveSubject<M, P, S, C> extends Subject<M, P, S, C> {
  readonly scheme: AdditiveScheme<M, P, S, C>;
  readonly add: (left: M, right: M) => M;
  readonly scale: (factor: number, message: M) => M;
}

function additiveLaws<M, P, S, C>({ scheme, messages, same, add, scale }: AdditiveSubject<M, P, S, C>): void {
  const random = fastRandomness(`additive laws of ${scheme.id}`);
  const { publicKey, secretKey } = scheme.generateKeys(random);
  const opensTo = (ciphertext: C, message: M): boolean => same(scheme.decrypt(secretKey, ciphertext), message);

  it("adds and scales under encryption, commutatively, associatively, distributively", () => {
    fc.assert(
      fc.property(messages, messages, messages, fc.integer({ min: -9, max: 9 }), (a, b, c, factor) => {
        const [ea, eb, ec] = [a, b, c].map((message) => scheme.encrypt(publicKey, message, random)) as [C, C, C];
        expect(opensTo(scheme.add(ea, eb), add(a, b))).toBe(true);
        expect(opensTo(scheme.add(eb, ea), add(a, b))).toBe(true);
        expect(opensTo(scheme.add(scheme.add(ea, eb), ec), add(a, add(b, c)))).toBe(true);
        expect(opensTo(scheme.add(ea, scheme.add(eb, ec)), add(a, add(b, c)))).toBe(true);
        expect(opensTo(scheme.scale(factor, ea), scale(factor, a))).toBe(true);
        expect(opensTo(scheme.scale(factor, scheme.add(ea, eb)), add(scale(factor, a), scale(factor, b)))).toBe(true);
        expect(opensTo(scheme.add(scheme.scale(factor, ea), scheme.scale(-factor, ea)), scale(0, a))).toBe(true);
      }),
      { numRuns: 30 },
    );
  });
}

const numbers = {
  messages: fc.integer({ min: -20, max: 20 }),
  same: (left: number, right: number) => left === right,
  add: (left: number, right: number) => left + right,
  // Not −0.
  scale: (factor: number, message: number) => factor * message + 0,
};

describe("elgamal counter", () => {
  const subject = { ...numbers, scheme: createElGamalCounter({ minimum: -400, maximum: 400 }), rerandomizations: 3000 };
  rerandomizableLaws(subject);
  additiveLaws(subject);
});

describe("elgamal group", () => {
  rerandomizableLaws({
    scheme: elgamalGroup,
    messages: fc.bigInt({ min: 1n, max: 2n ** 250n }).map((scalar) => BASE.multiply(scalar)),
    same: (left, right) => left.equals(right),
    rerandomizations: 1000,
  });
});

describe("paillier", () => {
  const subject = { ...numbers, scheme: paillier, rerandomizations: 2000 };
  rerandomizableLaws(subject);
  additiveLaws(subject);
});

for (const [parameters, plaintextBits] of [
  [LATTICE_SETS[0], 4],
  [LATTICE_SETS[2], 16],
] as [LatticeParameters, number][]) {
  const scheme = createLattice(parameters, plaintextBits);
  const t = 2 ** plaintextBits;
  const modulo = (value: number): number => ((value % t) + t) % t;
  describe(scheme.id, () => {
    const subject = {
      scheme,
      messages: fc.nat().map((seed) => {
        const words = new Uint32Array(parameters.dimension);
        fastRandomness(seed)(new Uint8Array(words.buffer));
        return Int32Array.from(words, (word) => word % t);
      }),
      same: (left: Int32Array, right: Int32Array) => left.every((value, i) => value === right[i]),
      add: (left: Int32Array, right: Int32Array) => left.map((value, i) => modulo(value + (right[i] as number))),
      scale: (factor: number, message: Int32Array) => message.map((value) => modulo(factor * value)),
      rerandomizations: 5000,
    };
    rerandomizableLaws(subject);
    additiveLaws(subject);
  });
}
