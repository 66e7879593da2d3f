import { secret } from "@lethe/core/encryption";
import { describe, expect, it } from "vitest";
import { openTally, sealEmptyTally, sealTally, type WindowTally } from "./sealed-tally.ts";

const windowSecret = secret(new Uint8Array(32).fill(1));
const sums: WindowTally = { kind: "sums", sums: [[3, 0, 1], [12345]], received: [4], invalid: -7 };
const share: WindowTally = {
  kind: "share",
  shares: [Uint8Array.of(1, 2, 3, 45), undefined, Uint8Array.of(7)],
  received: [3, 0, 1],
  invalid: 2,
};

describe.each([sums, share])("a tally of $kind", (tally) => {
  it("is read as it was sealed", () => {
    expect(openTally(windowSecret, sealTally(windowSecret, tally), tally.kind)).toEqual(tally);
  });

  it("shows nothing without the window's secret, and never looks the same twice", () => {
    const sealed = sealTally(windowSecret, tally);
    expect(Buffer.from(sealed).includes("invalid")).toBe(false);
    expect(sealTally(windowSecret, tally)).not.toEqual(sealed);
    expect(() => openTally(secret(new Uint8Array(32).fill(2)), sealed, tally.kind)).toThrow();
  });

  it("is refused if it was changed", () => {
    const sealed = sealTally(windowSecret, tally);
    for (const at of [0, 12, 20, sealed.length - 1]) {
      const changed = Uint8Array.from(sealed);
      changed[at] = (changed[at] as number) ^ 1;
      expect(() => openTally(windowSecret, changed, tally.kind)).toThrow();
    }
  });
});

it("an empty tally is one of either kind, with its noise", () => {
  const sealed = sealEmptyTally(windowSecret, 5);
  expect(openTally(windowSecret, sealed, "sums")).toEqual({ kind: "sums", sums: [], received: [], invalid: 5 });
  expect(openTally(windowSecret, sealed, "share")).toEqual({ kind: "share", shares: [], received: [], invalid: 5 });
});
