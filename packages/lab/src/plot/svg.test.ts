import { describe, expect, it } from "vitest";
import type { Line, Plot } from "./plot.ts";
import { renderSvg } from "./svg.ts";

const plotOf = (lines: Line[], more: Partial<Plot> = {}): Plot => ({
  title: "error & size",
  x: { label: "devices", scale: "log" },
  y: { label: "error", scale: "log" },
  lines,
  ...more,
});
const FALLING: Line["points"] = [
  [100, 0.1],
  [1e9, 1e-5],
];

describe("an SVG", () => {
  it("is well formed, with all text escaped", () => {
    const name = 'a<b & "c"';
    const svg = renderSvg(
      plotOf([{ name, points: FALLING }], { title: `<${name}>`, note: "]]> &amp; \u0000\u001b \ud800 '" }),
    );
    expectWellFormed(svg);
    expect(namesIn(svg).map(({ text }) => text)).toEqual(["a&lt;b &amp; &quot;c&quot;"]);
    expect(svg).toContain("<title>&lt;a&lt;b &amp; &quot;c&quot;&gt;</title>");
    expect(svg).toContain("]]&gt; &amp;amp;");
  });

  it("stands alone and can be read out", () => {
    const svg = renderSvg(plotOf([{ name: "local", points: FALLING }]));
    expect(svg).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" viewBox="0 0 720 \d+" .*role="img"/);
    expect(svg).toContain("<desc>error against devices. local: from 0.1 at 100 to 1e-5 at 1B.</desc>");
    expect(svg).not.toMatch(/<script|href|url\(/);
  });

  it("has names that do not overlap, in the order of the lines' ends, inside the picture", () => {
    const lines = Array.from(
      { length: 30 },
      (_, i): Line => ({
        name: `line ${i}${i === 7 ? " with a name that does not fit beside the picture in one row" : ""}`,
        points: [
          [1, 1],
          [100, 2 - i / 1e4],
        ],
      }),
    );
    const svg = renderSvg(plotOf(lines));
    const names = namesIn(svg);
    expect(names.length).toBeGreaterThan(lines.length);
    for (const [i, { y }] of names.entries()) expect(y - (names[i - 1]?.y ?? 0)).toBeGreaterThanOrEqual(12);
    const height = Number(/height="(\d+)"/.exec(svg)?.[1]);
    expect(names.at(-1)?.y).toBeLessThan(height);
  });

  it("tells lines apart without colour: by marks, or else by dashes", () => {
    const drawn = (marks?: boolean): string =>
      renderSvg(
        plotOf([1, 2, 3].map((i) => ({ name: `${i}`, points: FALLING, ...(marks !== undefined && { marks }) }))),
      );
    for (const mark of [/<circle /, /<rect x/, /<path d="M[^"]*z"/]) expect(drawn()).toMatch(mark);
    expect(drawn(false)).not.toContain("<circle");
    // Beside the dots of the leads, each twice: the line and its sample.
    expect(drawn(false).match(/stroke-dasharray="(7 4|2 3)"/g)).toHaveLength(4);
  });

  it("marks every point if asked, and a few if not", () => {
    const points = Array.from({ length: 100 }, (_, i) => [i + 1, 1] as const);
    const marks = (line: Line): number =>
      renderSvg(plotOf([line, { name: "other", points }])).match(/<circle/g)?.length ?? 0;
    expect(marks({ name: "all", points, marks: true })).toBe(101);
    expect(marks({ name: "few", points })).toBeLessThan(10);
  });

  it("shows a flat line and a single point", () => {
    for (const scale of ["log", "linear"] as const) {
      const flat = { name: "flat", points: [[1, 3] as const, [50, 3] as const] };
      const point = { name: "point", points: [[7, 3] as const], marks: false };
      for (const lines of [[flat], [point], [flat, point]]) {
        const svg = renderSvg(plotOf(lines, { x: { label: "x", scale }, y: { label: "y", scale } }));
        expectWellFormed(svg);
        expect(svg).not.toMatch(/NaN|Infinity|undefined/);
      }
      expect(renderSvg(plotOf([point], { x: { label: "x", scale } }))).toContain("<circle");
    }
  });

  it("has coordinates of at most one decimal", () => {
    const points = Array.from({ length: 50 }, (_, i) => [Math.exp(i / 3), Math.exp(-i / 7)] as const);
    const svg = renderSvg(plotOf([{ name: "a", points }]));
    expect(svg.slice(svg.indexOf("</desc>"))).not.toMatch(/[\d.]\.\d\d+[" L]/);
  });

  it("of nothing is refused", () => {
    expect(() => renderSvg(plotOf([{ name: "a", points: [[0, 1]] }]))).toThrow(RangeError);
  });
});

function namesIn(svg: string): { text: string; y: number }[] {
  return [...svg.matchAll(/<text x="[^"]*" y="([^"]*)" class="name"[^>]*>([^<]*)</g)]
    .map(([, y, text]) => ({ text: text ?? "", y: Number(y) }))
    .sort((a, b) => a.y - b.y);
}

/** Tags nest, attributes are quoted and differ, ampersands begin entities, no character is forbidden. */
function expectWellFormed(xml: string): void {
  expect(xml).not.toMatch(/[^\P{Cc}\t\n]|\p{Cs}/u);
  const open: string[] = [];
  const rest = xml.replace(
    /<(\/?)([a-z]+)((?: [a-z:0-9-]+="[^"<]*")*)(\/?)>/gi,
    (_tag, close, name, attributes, empty) => {
      if (close) expect(open.pop()).toBe(name);
      else if (!empty) open.push(name);
      const keys = [...String(attributes).matchAll(/ ([^ =]+)="/g)].map(([, key]) => key);
      expect(new Set(keys).size).toBe(keys.length);
      return "";
    },
  );
  expect(open).toEqual([]);
  expect(rest).not.toMatch(/[<>]/);
  expect(xml.replace(/&(amp|lt|gt|quot);/g, "")).not.toContain("&");
  expect(xml.match(/<svg/g)).toHaveLength(1);
}
