import { beforeAll, expect, it, vi } from "vitest";
import { bytes, decimal, percent, plusMinus, significant, whole } from "./number.ts";

beforeAll(() => {
  vi.stubGlobal("navigator", { language: "de-DE" });
});

it("numbers have the reader's separators, and zero has no sign", () => {
  expect([whole(12345), decimal(-0.004, 2), decimal(1.5, 2)]).toEqual(["12.345", "0,00", "1,50"]);
  expect([percent(0.0314), percent(-0.0001)]).toEqual(["3,1\u00a0%", "0,0\u00a0%"]);
});

it("figures of any size keep their significant digits", () => {
  expect([0, 0.00001234, 0.01234, 1.2345, 123456.7].map((value) => significant(value))).toEqual([
    ...["0", "1,23E-5", "0,0123", "1,23", "123.457"],
  ]);
});

it("bytes have the unit that makes them short", () => {
  const shown = [0, 999, 1000, 79_123_456_789, 5e15].map((value) => bytes(value).replaceAll(/\s/gu, " "));
  expect(shown).toEqual(["0 Byte", "999 Byte", "1 kB", "79,1 GB", "5.000 TB"]);
});

it("an estimate comes with half the width of its interval", () => {
  expect(plusMinus({ estimate: 1234, interval: [1178, 1290] }, 0)).toBe("1.234 ± 56");
});
