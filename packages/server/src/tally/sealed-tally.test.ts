import { secret } from "@lethe/core/encryption";
import { expect, it } from "vitest";
import { openTally, sealTally } from "./sealed-tally.ts";

const windowSecret = secret(new Uint8Array(32).fill(1));
const tally = { sums: [[3, 0, 1], [12345]], invalid: -7 };

it("a tally is read as it was sealed", () => {
  expect(openTally(windowSecret, sealTally(windowSecret, tally))).toEqual(tally);
});

it("it shows nothing without the window's secret, and never looks the same twice", () => {
  const sealed = sealTally(windowSecret, tally);
  expect(Buffer.from(sealed).includes("12345")).toBe(false);
  expect(sealTally(windowSecret, tally)).not.toEqual(sealed);
  expect(() => openTally(secret(new Uint8Array(32).fill(2)), sealed)).toThrow();
});

it("a changed one is refused", () => {
  const sealed = sealTally(windowSecret, tally);
  for (const at of [0, 12, 20, sealed.length - 1]) {
    const changed = Uint8Array.from(sealed);
    changed[at] = (changed[at] as number) ^ 1;
    expect(() => openTally(windowSecret, changed)).toThrow();
  }
});
