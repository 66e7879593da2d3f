import { readFileSync } from "node:fs";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import { beforeAll, describe, expect, it } from "vitest";
import { createElGamalCounter, createElGamalKeys, elgamalGroup } from "../src/encryption/elgamal/elgamal.ts";
import type { RistrettoGroup } from "../src/encryption/elgamal/group.ts";
import { scalarBytes } from "../src/encryption/elgamal/noble-group.ts";
import {
  BASE,
  decodePoint,
  IDENTITY,
  ORDER,
  type RistrettoPoint,
  randomScalar,
} from "../src/encryption/elgamal/ristretto.ts";
import { seededRandomnessForTests } from "../src/randomness/index.ts";

interface Vectors {
  readonly multiplesOfGenerator: readonly string[];
  readonly invalidEncodings: readonly string[];
}
const file = new URL("../vectors/rfc9496-ristretto255.json", import.meta.url);
const vectors = JSON.parse(readFileSync(file, "utf8")) as Vectors;
const random = seededRandomnessForTests("ristretto group");
const RUNS = 60;

const randomPoint = (): RistrettoPoint => BASE.multiply(randomScalar(random));
const randomBytes = (length: number): Uint8Array => {
  const bytes = new Uint8Array(length);
  random(bytes);
  return bytes;
};
const joined = (...parts: readonly Uint8Array[]): Uint8Array => Uint8Array.from(parts.flatMap((part) => [...part]));

/** The tests that every implementation of `RistrettoGroup` must pass. All compare it to noble's points. */
export function testRistrettoGroup(name: string, load: () => RistrettoGroup | Promise<RistrettoGroup>): void {
  describe(`Ristretto255 on ${name}`, () => {
    let group: RistrettoGroup;
    beforeAll(async () => {
      group = await load();
    });

    it("reduces 64 big-endian bytes modulo the order", () => {
      const wide = (value: bigint): Uint8Array => hexToBytes(value.toString(16).padStart(128, "0"));
      const edges = [0n, 1n, ORDER - 1n, ORDER, ORDER + 1n, 2n ** 252n, 2n ** 256n, 2n ** 512n - 1n].map(wide);
      for (const bytes of [...edges, ...Array.from({ length: RUNS }, () => randomBytes(64))]) {
        const before = bytes.slice();
        expect(group.reduce(bytes)).toEqual(scalarBytes(BigInt(`0x${bytesToHex(bytes)}`) % ORDER));
        expect(bytes).toEqual(before);
      }
    });

    it("multiplies G: RFC 9496, A.1, the largest scalar, and random ones", () => {
      for (const [i, hex] of vectors.multiplesOfGenerator.entries()) {
        if (i > 0) expect(bytesToHex(group.multiplyBase(scalarBytes(BigInt(i))))).toBe(hex);
      }
      expect(group.multiplyBase(scalarBytes(ORDER - 1n))).toEqual(BASE.negate().toBytes());
      for (let i = 0; i < RUNS; i++) {
        const scalar = randomScalar(random);
        expect(group.multiplyBase(scalarBytes(scalar))).toEqual(BASE.multiply(scalar).toBytes());
      }
    });

    it("unmasks what was masked, for one key and for several", () => {
      for (let run = 0; run < RUNS; run++) {
        const scalars = Array.from({ length: 1 + (run % 3) }, () => randomScalar(random));
        const messages = scalars.map(() => (run % 5 === 0 ? IDENTITY : randomPoint()));
        const ephemeral = randomPoint();
        const masked = messages.map((message, i) => message.add(ephemeral.multiply(scalars[i] as bigint)));
        const bytes = joined(...[ephemeral, ...masked].map((point) => point.toBytes()));
        expect(group.unmask(scalars.map(scalarBytes), bytes)).toEqual({
          elements: messages.map((message) => message.toBytes()),
          decoded: true,
          isTrivial: false,
        });
      }
    });

    it("gives what noble gives where the masked element is any, and leaves what it was given as it was", () => {
      for (let run = 0; run < RUNS; run++) {
        const scalar = run === 0 ? 1n : run === 1 ? ORDER - 1n : randomScalar(random);
        const [ephemeral, masked] = [randomPoint(), run === 2 ? IDENTITY : randomPoint()];
        const [secret, bytes] = [scalarBytes(scalar), joined(ephemeral.toBytes(), masked.toBytes())];
        const before = [secret.slice(), bytes.slice()];
        const { elements } = group.unmask([secret], bytes);
        expect(elements).toEqual([masked.subtract(ephemeral.multiply(scalar)).toBytes()]);
        expect([secret, bytes]).toEqual(before);
      }
    });

    it("finds nothing masked under 0·G", () => {
      const message = randomPoint().toBytes();
      expect(group.unmask([scalarBytes(randomScalar(random))], joined(IDENTITY.toBytes(), message))).toEqual({
        elements: [message],
        decoded: true,
        isTrivial: true,
      });
    });

    it("does not decode invalid encodings (RFC 9496, A.2, and others), in either place, and still returns elements", () => {
      const good = randomPoint().toBytes();
      const prime = "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f";
      // Changed in one byte, one even number in four is still an encoding.
      const others = Array.from({ length: RUNS }, () => randomBytes(32)).filter((bytes) => !isEncoding(bytes));
      expect(others.length).toBeGreaterThan(RUNS / 2);
      const largest = new Uint8Array(32).fill(255);
      for (const bad of [...vectors.invalidEncodings.map(hexToBytes), hexToBytes(prime), largest, ...others]) {
        for (const bytes of [joined(bad, good, good), joined(good, bad, good), joined(good, good, bad)]) {
          const scalars = [randomScalar(random), randomScalar(random)].map(scalarBytes);
          const { elements, decoded } = group.unmask(scalars, bytes);
          expect(decoded).toBe(false);
          for (const element of elements) expect(isEncoding(element)).toBe(true);
        }
      }
    });

    it("refuses ciphertexts of another length", () => {
      const refused = expect.objectContaining({ name: "LetheError", code: "bad-encoding" });
      for (const length of [0, 32, 63, 65, 96]) {
        expect(() => group.unmask([scalarBytes(1n)], new Uint8Array(length))).toThrow(refused);
      }
    });

    it("walks in steps, through 0·G as well, and not from what is no element", () => {
      const [start, step] = [randomPoint(), randomPoint()];
      for (const [from, by] of [
        [start, step],
        [BASE.multiply(ORDER - 3n), BASE],
        [IDENTITY, BASE],
        [start, IDENTITY],
      ] as const) {
        const expected = [0, 1, 2, 3, 4, 5].map((i) => (i === 0 ? from : from.add(by.multiplyUnsafe(BigInt(i)))));
        const walked = group.walk(from.toBytes(), by.toBytes(), 6);
        expect(walked.map(bytesToHex)).toEqual(expected.map((point) => point.toHex()));
      }
      expect(group.walk(start.toBytes(), step.toBytes(), 1)).toEqual([start.toBytes()]);
      expect(() => group.walk(new Uint8Array(32).fill(255), step.toBytes(), 2)).toThrow(
        expect.objectContaining({ name: "LetheError", code: "bad-encoding" }),
      );
    });

    it("subtracts, also from 0·G, to 0·G, and not what is no element", () => {
      const [left, right] = [randomPoint(), randomPoint()];
      for (const [from, less] of [
        [left, right],
        [IDENTITY, right],
        [left, IDENTITY],
        [left, left],
        [BASE, right],
      ] as const) {
        expect(group.subtract(from.toBytes(), less.toBytes())).toEqual(from.subtract(less).toBytes());
      }
      const bad = new Uint8Array(32).fill(255);
      for (const [from, less] of [
        [bad, right.toBytes()],
        [left.toBytes(), bad],
      ] as const) {
        expect(() => group.subtract(from, less)).toThrow(expect.objectContaining({ code: "bad-encoding" }));
      }
    });

    it("makes the keys that ElGamal generates, and opens its counters", () => {
      const keys = createElGamalKeys(group);
      for (let run = 0; run < 5; run++) {
        const seeded = () => seededRandomnessForTests(`keys ${run}`);
        const expected = elgamalGroup.generateKeys(seeded());
        expect(keys.issueKey(seeded())).toEqual(elgamalGroup.encodePublicKey(expected.publicKey));
        expect(keys.generateSecretKey(seeded()).reveal()).toEqual(expected.secretKey.reveal());
      }
      const scheme = createElGamalCounter({ minimum: -3, maximum: 9000 }, group);
      const { publicKey, secretKey } = scheme.generateKeys(random);
      for (const message of [-4, -3, -1, 0, 1, 8188, 8189, 9000, 9001]) {
        const bytes = scheme.encode(scheme.encrypt(publicKey, message, random));
        expect(scheme.open(secretKey, bytes)).toBe(message >= -3 && message <= 9000 ? message : undefined);
      }
    });

    it("works on after its memory was wiped", () => {
      group.wipe();
      expect(group.multiplyBase(scalarBytes(1n))).toEqual(BASE.toBytes());
    });
  });
}

function isEncoding(bytes: Uint8Array): boolean {
  try {
    decodePoint(bytes);
    return true;
  } catch {
    return false;
  }
}
