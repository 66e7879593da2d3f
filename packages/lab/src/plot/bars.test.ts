import { describe, expect, it } from "vitest";
import { renderBars } from "./bars.ts";

const BARS = [
  { name: "often", value: 80, interval: [60, 100] },
  { name: "never", value: -5, interval: [-25, 15] },
  { name: "a name that is longer than half of any terminal it will ever be shown in", value: 0, interval: [0, 0] },
] as const;

describe("bars in the terminal", () => {
  it("are never wider than asked and have no trailing blanks", () => {
    for (let columns = 40; columns <= 130; columns++) {
      for (const line of renderBars({ title: "devices ".repeat(20), bars: BARS }, columns).split("\n")) {
        expect([...line].length).toBeLessThanOrEqual(columns);
        expect(line).toBe(line.trimEnd());
      }
    }
  });

  it("show value and interval on one axis, on either side of zero", () => {
    expect(renderBars({ title: "devices", bars: BARS.slice(0, 2) }, 50).split("\n")).toEqual([
      "devices",
      "often │             ████████████████├─────●────┤",
      "never │       ├────●────┤",
      "      └┬────────────┬─────────────┬────────────┬",
      "      −50           0            50           100",
    ]);
  });

  it("have words where there is no value, which is no zero", () => {
    const bars = [BARS[0], { name: "lost", text: "its secret is gone" }, { name: "cut", text: "x".repeat(99) }];
    const lines = renderBars({ title: "devices", bars }, 50).split("\n");
    expect(lines.slice(2, 4)).toEqual(["lost  │ its secret is gone", `cut   │ ${"x".repeat(39)}…`]);
    expect(renderBars({ title: "t", bars: bars.slice(1) }, 50)).not.toContain("●");
  });

  it("a certain value is a point, and a single one has an axis too", () => {
    const [row = "", axis = ""] = renderBars({ title: "t", bars: [{ name: "n", value: 0, interval: [0, 0] }] }, 40)
      .split("\n")
      .slice(1);
    expect(row).toContain("●");
    expect(row).not.toMatch(/[├┤]/);
    expect(axis).toContain("┬");
  });

  it("refuses to draw nothing, or too small", () => {
    expect(() => renderBars({ title: "t", bars: [] })).toThrow(RangeError);
    expect(() => renderBars({ title: "t", bars: BARS }, 39)).toThrow(RangeError);
  });
});
