import { xof } from "@lethe/core/device";
import fc from "fast-check";
import { expect, it } from "vitest";
import { decodeVersion, encodeVersion } from "./version.ts";

const versions = fc.record({
  generation: fc.nat({ max: Number.MAX_SAFE_INTEGER }),
  record: fc.uint8Array({ maxLength: 300 }),
});

it("a version comes back as it was, and has the size of its record and no other", () => {
  fc.assert(
    fc.property(versions, (version) => {
      const bytes = encodeVersion(version);
      expect(decodeVersion(bytes)).toEqual(version);
      expect(bytes.length - version.record.length).toBe(32);
    }),
  );
});

it("what is cut off, changed by a bit or put together of two versions is none; what follows does not matter", () => {
  fc.assert(
    fc.property(versions, versions, fc.nat(), (one, two, at) => {
      const [bytes, other] = [encodeVersion(one), encodeVersion(two)];
      const cut = at % bytes.length;
      expect(decodeVersion(bytes.slice(0, cut))).toBeUndefined();
      expect(decodeVersion(Uint8Array.of(...bytes, ...other))).toEqual(one);
      expect(decodeVersion(bytes.map((byte, i) => (i === cut ? byte ^ 1 : byte)))).toBeUndefined();
      const mixed = Uint8Array.of(...bytes.slice(0, cut), ...other.slice(cut));
      const begins = ({ length }: Uint8Array) => `${mixed.slice(0, length)}`;
      fc.pre(begins(bytes) !== `${bytes}` && begins(other) !== `${other}`);
      expect(decodeVersion(mixed)).toBeUndefined();
    }),
  );
});

it("nothing is no version", () => {
  expect(decodeVersion(new Uint8Array())).toBeUndefined();
});

it.each([-0, -1, -16, 0.5, Number.NaN, -0.5])("a record of %d bytes is none, although its check is right", (length) => {
  const content = new Uint8Array(Float64Array.of(1, length).buffer);
  const check = new Uint8Array(16);
  xof("lethe version", length < 0 ? content.slice(0, Math.max(0, 16 + Math.trunc(length))) : content)(check);
  expect(decodeVersion(Uint8Array.of(...check, ...content))).toBeUndefined();
});
