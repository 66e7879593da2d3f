import { describe, expect, it } from "vitest";
import { changedBytes, changedShare, colourOf, pictureOf } from "./picture.ts";

describe("a picture of bytes", () => {
  it("has another colour for every byte, changed or not", () => {
    const bytes = Array.from({ length: 256 }, (_, byte) => byte);
    const colours = [true, false].flatMap((isChanged) => bytes.map((byte) => colourOf(byte, isChanged).join()));
    expect(new Set(colours).size).toBe(512);
    for (const value of colours.flatMap((colour) => colour.split(",").map(Number))) {
      expect(Number.isInteger(value) && value >= 0 && value <= 255, String(value)).toBe(true);
    }
  });

  it("is nearly square, and transparent after the last byte", () => {
    const { columns, rows, pixels } = pictureOf(Uint8Array.of(1, 2, 3, 4, 5), undefined);
    expect([columns, rows, pixels.length]).toEqual([3, 2, 24]);
    expect([...pixels.slice(16)]).toEqual([...colourOf(5, true), 255, 0, 0, 0, 0]);
    expect(pictureOf(new Uint8Array(), undefined)).toMatchObject({ columns: 1, rows: 1 });
  });

  it("shows what changed, and what was not there before", () => {
    const { pixels } = pictureOf(Uint8Array.of(7, 7, 7), Uint8Array.of(7, 8));
    expect([...pixels.slice(0, 12)]).toEqual([
      ...[...colourOf(7, false), 255, ...colourOf(7, true), 255, ...colourOf(7, true), 255],
    ]);
  });
});

describe("the share of bytes that changed", () => {
  it("counts bytes that only one of both has", () => {
    expect(changedShare(Uint8Array.of(1, 2, 3, 4), Uint8Array.of(1, 0))).toBe(3 / 4);
    expect(changedShare(Uint8Array.of(1), Uint8Array.of(1, 0))).toBe(1 / 2);
    expect(changedBytes(Uint8Array.of(1, 2), Uint8Array.of(1, 0, 3))).toBe(2);
    expect([
      changedShare(new Uint8Array(), new Uint8Array()),
      changedShare(Uint8Array.of(1), Uint8Array.of(1)),
    ]).toEqual([0, 0]);
  });
});
