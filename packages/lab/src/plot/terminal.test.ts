import { describe, expect, it } from "vitest";
import type { Line, Plot } from "./plot.ts";
import { renderTerminal } from "./terminal.ts";

const plotOf = (...lines: Line[]): Plot => ({
  title: "Relative error of a count, against the number of devices that take part in it",
  x: { label: "devices", scale: "log" },
  y: { label: "error", scale: "log" },
  lines,
  note: "A note that is longer than most terminals are wide, so that it has to be broken into several lines.",
});
const RISING: Line = { name: "rising", points: Array.from({ length: 29 }, (_, i) => [100 * 10 ** (i / 4), 2 ** i]) };
const FALLING: Line = { name: 'falling, a<b & "c"', points: RISING.points.map(([x, y]) => [x, 1 / y]) };

describe("a picture in the terminal", () => {
  it("is never wider than asked and has no trailing blanks", () => {
    const long = { ...FALLING, name: "a name that goes on and on, ".repeat(8) };
    const short: Line = { name: "short", points: RISING.points.slice(0, 20), style: "dashed" };
    for (const scale of ["log", "linear"] as const) {
      for (let columns = 40; columns <= 130; columns++) {
        const plot = { ...plotOf(RISING, long, short), x: { label: "devices ".repeat(9), scale } };
        for (const line of renderTerminal(plot, columns).split("\n")) {
          expect([...line].length).toBeLessThanOrEqual(columns);
          expect(line).toBe(line.trimEnd());
        }
      }
    }
  });

  it("shows title, axes, ticks, names and note", () => {
    const text = renderTerminal(plotOf(RISING, FALLING), 100);
    const shown = ["Relative error", "devices", "error", "100", "1M", "1B", "rising", 'falling, a<b & "c"', "A note"];
    for (const part of shown) expect(text).toContain(part);
  });

  it("rises where the line rises, from corner to corner", () => {
    const heights = columnHeights(renderTerminal(plotOf({ ...RISING, style: "solid" }), 78, 18));
    expect(heights.length).toBeGreaterThan(60);
    expect(heights).toEqual(heights.toSorted((a, b) => a - b));
    expect((heights.at(-1) ?? 0) - (heights[0] ?? 0)).toBeGreaterThan(15);
  });

  it("merges the dots of lines that meet in a cell", () => {
    const solid = (line: Line): Line => ({ ...line, style: "solid" });
    const cross: Line = {
      name: "cross",
      points: [
        [100, 2 ** 28],
        [1e9, 1],
      ],
    };
    const alone = dots(renderTerminal(plotOf(solid(RISING)), 78));
    const other = dots(renderTerminal(plotOf(solid(cross)), 78));
    const both = dots(renderTerminal(plotOf(solid(RISING), solid(cross)), 78));
    expect(both).toEqual(new Set([...alone, ...other]));
  });

  it("shows a flat line in one row and a single point in one cell", () => {
    const flat = renderTerminal(
      plotOf({
        name: "flat",
        points: [
          [1, 3],
          [50, 3],
        ],
      }),
    );
    expect(drawing(flat).filter((row) => /[⠁-⣿]/.test(row))).toHaveLength(1);
    const point = renderTerminal(plotOf({ name: "point", points: [[7, 3]] }));
    expect(drawing(point).join("").match(/[⠁-⣿]/g)).toEqual(["⣿"]);
  });

  it("gives lines that end together different letters, the higher end above", () => {
    const ends = [1, 1.001, 1.002].map(
      (end, i): Line => ({
        name: `${i}`,
        points: [
          [1, 100],
          [100, end],
        ],
      }),
    );
    const letters = drawing(renderTerminal(plotOf(...ends))).flatMap((row) => /[A-Z]$/.exec(row) ?? []);
    expect(letters).toEqual(["C", "B", "A"]);
  });

  it("has colours only if asked, which change nothing else", () => {
    const plot = plotOf(RISING, FALLING);
    const plain = renderTerminal(plot);
    const coloured = renderTerminal(plot, 78, 18, true);
    expect(plain).not.toContain("\u001b");
    expect(coloured).toContain("\u001b[38;5;33m");
    expect(coloured.replaceAll(/\p{Cc}\[[\d;]*m/gu, "")).toBe(plain);
  });

  it("passes no control characters on from names", () => {
    expect(renderTerminal(plotOf({ ...RISING, name: "\u001b[2Jgone\r" }))).not.toMatch(/[^\P{Cc}\n]/u);
  });

  it("is refused where it cannot be read", () => {
    expect(() => renderTerminal(plotOf(RISING), 39)).toThrow(RangeError);
    expect(() => renderTerminal(plotOf(RISING), 78.5)).toThrow(RangeError);
    expect(() => renderTerminal(plotOf(RISING), 78, 3)).toThrow(RangeError);
    expect(() => renderTerminal(plotOf())).toThrow(RangeError);
  });
});

/** The rows right of the axis, the highest first. */
function drawing(text: string): string[] {
  return text.split("\n").flatMap((row) => /[│┤](.*)$/.exec(row)?.[1] ?? []);
}

/** For each column with dots, the row of its lowest, counted from below. */
function columnHeights(text: string): number[] {
  const rows = drawing(text).reverse();
  const width = Math.max(...rows.map((row) => row.length));
  return Array.from({ length: width }, (_, i) => rows.findIndex((row) => /[⠁-⣿]/.test(row.charAt(i)))).filter(
    (height) => height >= 0,
  );
}

/** Each dot by its row, column and bit. */
function dots(text: string): Set<string> {
  return new Set(
    drawing(text).flatMap((row, i) =>
      [...row].flatMap((character, j) => {
        const bits = (character.codePointAt(0) ?? 0) - 0x2800;
        return [0, 1, 2, 3, 4, 5, 6, 7].filter((bit) => bits > 0 && bits & (1 << bit)).map((bit) => `${i},${j},${bit}`);
      }),
    ),
  );
}
