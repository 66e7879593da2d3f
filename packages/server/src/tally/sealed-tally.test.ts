import { secret } from "@lethe/core/encryption";
import { describe, expect, it } from "vitest";
import { emptyTally, mergeTallies, openTally, sealEmptyTally, sealTally, type WindowTally } from "./sealed-tally.ts";

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

it("shards of a tally add up to what was counted in all of them", () => {
  const begun = openTally(windowSecret, sealEmptyTally(windowSecret, 5), "sums");
  const counted = [{ ...emptyTally("sums"), sums: [[1, 2], [], [4]], received: [1, 0, 2], invalid: 1 }, begun, sums];
  expect(mergeTallies("sums", counted)).toEqual({
    kind: "sums",
    sums: [[4, 2, 1], [12345], [4]],
    received: [5, 0, 2],
    invalid: -1,
  });
});

it("shards of a server's share add up in the field, group by group", () => {
  const one = (value: number): Uint8Array => Uint8Array.of(value, 0, 0, 0, 0, 0, 0, 0);
  const shares = [[one(3)], [undefined, one(5)], [one(4), one(6), undefined]];
  const tallies = shares.map((each) => ({ kind: "share" as const, shares: each, received: [1], invalid: 1 }));
  expect(mergeTallies("share", tallies)).toEqual({
    kind: "share",
    shares: [one(7), one(11), undefined],
    received: [3],
    invalid: 3,
  });
});
