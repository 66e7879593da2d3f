import fc from "fast-check";
import { expect, it } from "vitest";
import { fastXof } from "./fast-xof.ts";
import { xof } from "./xof.ts";

it("gives the bytes of xof, for any input, in pieces of any size", () => {
  const parts = fc.array(fc.uint8Array({ maxLength: 400 }), { maxLength: 4 });
  const pieces = fc.array(fc.nat(700), { maxLength: 6 });
  fc.assert(
    fc.property(parts, pieces, (parts, pieces) => {
      const [slow, fast] = [xof("a label", ...parts), fastXof("a label", ...parts)];
      for (const length of pieces) {
        const [left, right] = [new Uint8Array(length), new Uint8Array(length)];
        slow(left);
        fast(right);
        expect(right).toStrictEqual(left);
      }
    }),
    { numRuns: 500 },
  );
});

it("keeps streams apart that are read in turn", () => {
  const streams = ["one", "two"].map((label) => ({ slow: xof(label), fast: fastXof(label) }));
  for (let round = 0; round < 20; round++) {
    for (const { slow, fast } of streams) {
      const [left, right] = [new Uint8Array(97), new Uint8Array(97)];
      slow(left);
      fast(right);
      expect(right).toStrictEqual(left);
    }
  }
});
