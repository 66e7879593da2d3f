import { createScale, type DrawableLine, drawableLines, type Plot, type Scale, spread, wrap } from "./plot.ts";

/** A character holds 2 × 4 dots: their bits in the braille block of Unicode, row by row. */
const BRAILLE = 0x2800;
const DOTS = [0x01, 0x08, 0x02, 0x10, 0x04, 0x20, 0x40, 0x80] as const;
const ALL_DOTS = 0xff;

/** How many dots along a line are drawn, left out, drawn, …; without marks, lines differ in these. */
const SOLID = [1, 0] as const;
const DASHED = [6, 4] as const;
const PATTERNS = [SOLID, DASHED, [1, 2], [8, 3, 1, 3]] as const;
/** From a terminal's 256 colours: near the palette of Okabe and Ito, and legible on black and on white. */
const COLOURS = [33, 202, 36, 175, 214, 74, 244] as const;

/** The dots of a character, or the letter that replaces them. Where lines meet, the later one gives the colour. */
interface Cell {
  dots: number;
  letter?: string;
  index?: number;
}

/** In dots, from the bottom left corner. */
type Spot = readonly [across: number, up: number];

type Paint = (text: string, index: number | undefined) => string;

/**
 * Draws a plot in plain Unicode for a terminal, at most `columns` wide if every character takes one. `rows` is the
 * height of the drawing alone, without title, axis and legend. Each line ends in the letter by which the legend names
 * it.
 */
export function renderTerminal(plot: Plot, columns = 78, rows = 18, colour = false): string {
  if (!Number.isInteger(columns) || columns < 40) throw new RangeError("columns must be a whole number, at least 40");
  if (!Number.isInteger(rows) || rows < 4) throw new RangeError("rows must be a whole number, at least 4");
  const lines = drawableLines(plot);
  const points = lines.flatMap((line) => line.points);
  const ys = points.map((point) => point[1]);
  const y = createScale(plot.y, ys, Math.max(4, Math.floor(rows / 3)));
  const margin = y.ticks.reduce((most, { label }) => Math.max(most, label.length), 0) + 2;
  // The last two columns are for the letters.
  const width = columns - margin - 2;
  const xs = points.map((point) => point[0]);
  const x = createScale(plot.x, xs, Math.max(4, Math.floor(width / 7)));
  const cells = drawCells(lines, x, y, width, rows);
  const paint: Paint = (text, index) =>
    colour && index !== undefined ? `\u001b[38;5;${COLOURS[index % COLOURS.length]}m${text}\u001b[0m` : text;
  return [
    ...wrap(plot.title, columns),
    "",
    ...wrap(plot.y.label, columns),
    ...withYAxis(cells, y, margin, paint),
    ...drawXAxis(x, margin, width),
    ...wrap(plot.x.label, width).map((line) => " ".repeat(margin + (width - [...line].length) / 2) + line),
    "",
    ...lines.flatMap((line) => drawLegend(line, columns, paint)),
    ...(plot.note === undefined ? [] : ["", ...wrap(plot.note, columns)]),
  ]
    .map((line) => line.trimEnd())
    .join("\n");
}

function drawCells(lines: readonly DrawableLine[], x: Scale, y: Scale, width: number, rows: number): Cell[][] {
  const cells = Array.from({ length: rows }, () => Array.from({ length: width + 2 }, (): Cell => ({ dots: 0 })));
  const ends = lines.map((line) => {
    const spots = line.points.map(([atX, atY]) => [dotAt(x, atX, 2 * width), dotAt(y, atY, 4 * rows)] as const);
    const drawn = spots.length === 1 ? spots : joined(spots).filter((_, i) => isOn(patternOf(line), i));
    for (const [across, up] of drawn) {
      const down = 4 * rows - 1 - up;
      const cell = cells[down >> 2]?.[across >> 1];
      if (cell === undefined) continue;
      // A single dot would not be seen.
      cell.dots |= spots.length === 1 ? ALL_DOTS : (DOTS[2 * (down & 3) + (across & 1)] ?? 0);
      cell.index = line.index;
    }
    const [endX, endY] = line.points.reduce((a, b) => (b[0] >= a[0] ? b : a));
    return { index: line.index, column: (dotAt(x, endX, 2 * width) >> 1) + 2, row: (1 - y.place(endY)) * rows };
  });
  // Letters of lines that end in the same column move apart; what does not fit is left to the legend.
  for (const column of new Set(ends.map((end) => end.column))) {
    const group = ends.filter((end) => end.column === column);
    const wanted = group.map(({ row }) => row);
    const middles = spread(wanted, new Array<number>(group.length).fill(1), [0, rows]);
    group.forEach(({ index }, i) => {
      const cell = cells[Math.round((middles[i] as number) - 0.5)]?.[column];
      if (cell !== undefined) Object.assign(cell, { letter: letterOf(index), index });
    });
  }
  return cells;
}

/** Which of `count` dots shows the value. */
export function dotAt(scale: Scale, value: number, count: number): number {
  return Math.round(scale.place(value) * (count - 1));
}

/** All dots on the way from spot to spot, each once. */
function joined(spots: readonly Spot[]): Spot[] {
  return spots.flatMap((to, i) => {
    const from = spots[i - 1];
    if (from === undefined) return [to];
    const steps = Math.max(Math.abs(to[0] - from[0]), Math.abs(to[1] - from[1]));
    return Array.from({ length: steps }, (_, k): Spot => {
      const share = (k + 1) / steps;
      return [Math.round(from[0] + share * (to[0] - from[0])), Math.round(from[1] + share * (to[1] - from[1]))];
    });
  });
}

function patternOf({ line, index }: DrawableLine): readonly number[] {
  if (line.style !== undefined) return line.style === "dashed" ? DASHED : SOLID;
  return PATTERNS[index % PATTERNS.length] ?? SOLID;
}

function isOn(pattern: readonly number[], step: number): boolean {
  let rest = step % pattern.reduce((sum, run) => sum + run);
  for (const [i, run] of pattern.entries()) {
    if (rest < run) return i % 2 === 0;
    rest -= run;
  }
  return false;
}

function withYAxis(cells: readonly (readonly Cell[])[], y: Scale, margin: number, paint: Paint): string[] {
  const labels = new Map(
    y.ticks.map(({ value, label }) => [cells.length - 1 - (dotAt(y, value, 4 * cells.length) >> 2), label]),
  );
  return cells.map((row, i) => {
    const label = labels.get(i);
    const blankFrom = row.findLastIndex(({ dots, letter }) => dots > 0 || letter !== undefined) + 1;
    const drawn = row.slice(0, blankFrom).map(({ dots, letter, index }) => paint(letter ?? braille(dots), index));
    return `${(label ?? "").padStart(margin - 2)} ${label === undefined ? "│" : "┤"}${drawn.join("")}`;
  });
}

/** The axis, and below it the labels that have room. */
export function drawXAxis(x: Scale, margin: number, width: number): string[] {
  const axis = new Array<string>(width).fill("─");
  let labels = "";
  for (const { value, label } of x.ticks) {
    const column = dotAt(x, value, 2 * width) >> 1;
    axis[column] = "┬";
    const start = Math.min(margin + column - Math.floor(label.length / 2), margin + width + 2 - label.length);
    if (labels === "" || start > labels.length + 1) labels = labels.padEnd(start) + label;
  }
  return [`${" ".repeat(margin - 1)}└${axis.join("")}`, labels];
}

function drawLegend(line: DrawableLine, columns: number, paint: Paint): string[] {
  const sample = Array.from({ length: 8 }, (_, i) =>
    braille([0, 1].reduce((dots, k) => dots | (isOn(patternOf(line), 2 * i + k) ? (DOTS[4 + k] ?? 0) : 0), 0)),
  ).join("");
  const key = ` ${letterOf(line.index)} ${line.points.length === 1 ? braille(ALL_DOTS).padEnd(8) : sample} `;
  return wrap(line.line.name, columns - key.length).map(
    (part, i) => (i === 0 ? paint(key, line.index) : " ".repeat(key.length)) + part,
  );
}

/** A blank for no dots, as some fonts draw the empty pattern's circles. */
function braille(dots: number): string {
  return dots === 0 ? " " : String.fromCodePoint(BRAILLE + dots);
}

/** A to Z, then a to z, then again. */
function letterOf(index: number): string {
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  return letters.charAt(index % letters.length);
}
