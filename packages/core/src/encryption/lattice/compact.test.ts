import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fastRandomness } from "../../../test/fast-randomness.ts";
import { LetheError } from "../../error.ts";
import { packBits, packedBytes, unpackBits } from "./bit-packing.ts";
import { chooseLattice } from "./choose.ts";
import { compactBytes, compactDecoder, decodeCompact, encodeCompact } from "./compact.ts";
import { createLattice } from "./lattice.ts";
import { LATTICE_SETS, type LatticeParameters } from "./parameters.ts";

const random = fastRandomness("compact");

describe("bit packing", () => {
  it("is inverted exactly, and sizes are as stated", () => {
    const values = fc.integer({ min: 1, max: 25 }).chain((bits) =>
      fc.record({
        bits: fc.constant(bits),
        values: fc.array(fc.nat(2 ** bits - 1), { minLength: 32, maxLength: 60 }),
      }),
    );
    fc.assert(
      fc.property(values, fc.nat(5), ({ bits, values }, offset) => {
        const bytes = new Uint8Array(offset + packedBytes(values.length, bits));
        expect(packBits(Int32Array.from(values), bits, bytes, offset)).toBe(bytes.length);
        const read = new Int32Array(values.length);
        expect(unpackBits(bytes, offset, bits, read)).toBe(bytes.length);
        expect(Array.from(read)).toEqual(values);
      }),
      { numRuns: 10_000 },
    );
  });
});

describe("the compact encoding", () => {
  const cases: { name: string; plaintextBits: number; slots: number; encryptions: number; reads?: number[] }[] = [
    { name: "all slots of a ledger", plaintextBits: 4, slots: 1024, encryptions: 577 },
    { name: "a few slots", plaintextBits: 3, slots: 1024, encryptions: 577, reads: [0, 17, 18, 500, 1023] },
    {
      name: "L2, more than 25 bits a coefficient",
      plaintextBits: 24,
      slots: 2048,
      encryptions: 577,
      reads: [0, 1, 2047],
    },
  ];
  for (const { name, reads, ...need } of cases) {
    it(`${name}: opens to the message, has its stated size, and re-encodes to the same bytes`, () => {
      const { parameters, format } = chooseLattice({ ...need, ...(reads && { reads }) });
      const scheme = createLattice(parameters, need.plaintextBits);
      const t = 2 ** need.plaintextBits;
      for (let round = 0; round < 10; round++) {
        const { publicKey, secretKey } = scheme.generateKeys(random);
        const message = new Int32Array(parameters.dimension).map((_, i) => (i * 7919 + round * 104_729) % t);
        const ciphertext = scheme.encrypt(publicKey, message, random);
        scheme.addEncryptionsOfZero(publicKey, ciphertext, need.encryptions - 1, random);
        const bytes = encodeCompact(parameters, format, ciphertext);
        expect(bytes.length).toBe(compactBytes(parameters, format));
        const received = decodeCompact(parameters, format, bytes);
        expect(encodeCompact(parameters, format, received)).toEqual(bytes);
        const opened = scheme.decrypt(secretKey, received);
        for (const slot of format.reads) expect(opened[slot]).toBe(message[slot]);
      }
    });

    it(`${name}: random, truncated or extended bytes are refused by name, or are canonical (10,000 cases)`, () => {
      const { parameters, format } = chooseLattice({ ...need, ...(reads && { reads }) });
      checkCodec(parameters, format);
    });
  }
});

it("formats that no ciphertext has are refused: slots twice, out of order or out of range, bits beyond the modulus", () => {
  const [parameters] = LATTICE_SETS;
  const good = { c0Bits: 12, c1Bits: 5, reads: [0, 5] };
  expect(compactBytes(parameters, good)).toBe(1536 + 2);
  for (const change of [
    { reads: [5, 5] },
    { reads: [5, 0] },
    { reads: [-1] },
    { reads: [1024] },
    { reads: [0.5] },
    { c0Bits: 0 },
    { c0Bits: 26 },
    { c1Bits: 1.5 },
  ]) {
    expect(() => compactBytes(parameters, { ...good, ...change })).toThrow(RangeError);
  }
});

function checkCodec(parameters: LatticeParameters, format: Parameters<typeof encodeCompact>[1]): void {
  const length = compactBytes(parameters, format);
  const lengths = fc.oneof(fc.constant(length), fc.nat(length - 1), fc.integer({ min: length + 1, max: length + 9 }));
  let refused = 0;
  fc.assert(
    fc.property(fc.nat(), lengths, (seed, candidateLength) => {
      const bytes = new Uint8Array(candidateLength);
      fastRandomness(seed)(bytes);
      try {
        const again = encodeCompact(parameters, format, decodeCompact(parameters, format, bytes));
        expect(Buffer.compare(again, bytes)).toBe(0);
      } catch (error) {
        if (!(error instanceof LetheError)) throw error;
        expect(error.code).toBe("bad-encoding");
        refused++;
      }
    }),
    { numRuns: 10_000 },
  );
  expect(refused).toBeGreaterThan(5_000);
}

it("bits that only fill up a byte must be zero; a decoder reads past them and says so", () => {
  const parameters = LATTICE_SETS[0];
  // Three values of three bits leave seven bits of the last byte.
  const format = { c0Bits: 12, c1Bits: 3, reads: [0, 5, 1023] };
  const decode = compactDecoder(parameters, format);
  const bytes = new Uint8Array(compactBytes(parameters, format));
  random(bytes);
  bytes[bytes.length - 1] = 1;
  const clean = decodeCompact(parameters, format, bytes);
  expect(decode(bytes)).toEqual({ ciphertext: clean, clean: true });
  for (let bit = 1; bit < 8; bit++) {
    const changed = bytes.with(-1, 1 | (1 << bit));
    expect(() => decodeCompact(parameters, format, changed)).toThrow(LetheError);
    expect(decode(changed)).toEqual({ ciphertext: clean, clean: false });
  }
});
