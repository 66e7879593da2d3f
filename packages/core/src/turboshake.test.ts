import { turboshake128 } from "@noble/hashes/sha3-addons.js";
import fc from "fast-check";
import { expect, it } from "vitest";
import { turboShake128 } from "./turboshake.ts";

it("is noble's TurboSHAKE128, however input and output are cut into pieces", () => {
  const some = fc.uint8Array({ maxLength: 400 });
  const lengths = fc.array(fc.nat({ max: 400 }), { maxLength: 4 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 0x7f }), fc.array(some, { maxLength: 4 }), lengths, (domain, parts, cuts) => {
      const stream = turboShake128(domain, parts);
      const pieces = cuts.map((length) => {
        const piece = new Uint8Array(length);
        stream(piece);
        return piece;
      });
      const hash = turboshake128.create({ D: domain });
      for (const part of parts) hash.update(part);
      for (const piece of pieces) expect(piece).toStrictEqual(hash.xofInto(new Uint8Array(piece.length)));
    }),
    { numRuns: 300 },
  );
});

it("is noble's at every length around a block of 168 bytes", () => {
  for (let length = 160; length <= 340; length++) {
    const input = Uint8Array.from({ length }, (_, i) => 7 * i + length);
    const output = new Uint8Array(length);
    turboShake128(0x1f, [input])(output);
    expect(output).toStrictEqual(turboshake128(input, { D: 0x1f, dkLen: length }));
  }
});

/** RFC 9861, §5: `ptn(n)` is 00 01 … FA, repeated. */
it("has the vectors of RFC 9861", () => {
  const ptn = (length: number) => Uint8Array.from({ length }, (_, i) => i % 0xfb);
  const hex = (domain: number, input: Uint8Array) => {
    const output = new Uint8Array(32);
    turboShake128(domain, [input])(output);
    return Buffer.from(output).toString("hex");
  };
  expect(hex(0x1f, new Uint8Array())).toBe("1e415f1c5983aff2169217277d17bb538cd945a397ddec541f1ce41af2c1b74c");
  expect(hex(0x1f, ptn(17))).toBe("9c97d036a3bac819db70ede0ca554ec6e4c2a1a4ffbfd9ec269ca6a111161233");
});

it("gives nothing away once it is destroyed", () => {
  const stream = turboShake128(0x1f, [Uint8Array.of(1)]);
  const before = new Uint8Array(8);
  stream(before);
  stream.destroy();
  const after = new Uint8Array(8);
  stream(after);
  expect(after).toStrictEqual(new Uint8Array(8));
});
