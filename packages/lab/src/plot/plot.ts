/** A picture of a few lines, to be drawn by `renderSvg` or `renderTerminal`. */
export interface Plot {
  readonly title: string;
  readonly x: Axis;
  readonly y: Axis;
  readonly lines: readonly Line[];
  /** What a reader must know and cannot see, below the picture. */
  readonly note?: string;
}

/** An axis of a plot. */
export interface Axis {
  readonly label: string;
  readonly scale: "log" | "linear";
}

/** A line of a plot. */
export interface Line {
  readonly name: string;
  /** Joined in the order given. Those that are not finite, or not above 0 on a log axis, are left out. */
  readonly points: readonly Point[];
  readonly style?: "solid" | "dashed";
  /** Whether every point has a mark, or none. If absent, some points have one if there are several lines. */
  readonly marks?: boolean;
}

/** A point of a line. */
export type Point = readonly [x: number, y: number];

/** Beyond this, widths and midpoints overflow; below its inverse, logarithms do. */
const LARGEST = 1e300;
/** Rounding in the caller's points must not add a whole step to an axis. */
const TOLERANCE = 1e-9;

/** A line with at least one point that can be drawn. */
export interface DrawableLine {
  readonly line: Line;
  /** Its place in the plot, which its colour and mark follow. */
  readonly index: number;
  readonly points: readonly Point[];
}

/** The lines of which something can be drawn. Throws a `RangeError` if there are none. */
export function drawableLines(plot: Plot): DrawableLine[] {
  const lines = plot.lines
    .map((line, index) => ({
      line: { ...line, name: printable(line.name) },
      index,
      points: line.points.filter(([x, y]) => isDrawable(plot.x, x) && isDrawable(plot.y, y)),
    }))
    .filter(({ points }) => points.length > 0);
  if (lines.length === 0) throw new RangeError("the plot has no point that can be drawn");
  return lines;
}

function isDrawable(axis: Axis, value: number): boolean {
  return Math.abs(value) <= LARGEST && (axis.scale === "linear" || value >= 1 / LARGEST);
}

/** An axis with its range. */
export interface Scale {
  readonly low: number;
  readonly high: number;
  readonly ticks: readonly { readonly value: number; readonly label: string }[];
  /** The place of a value between `low` (0) and `high` (1). */
  place(value: number): number;
}

/** A scale that holds all values, begins and ends at round numbers, and has at most about `most` steps. */
export function createScale({ scale }: Axis, values: readonly number[], most: number): Scale {
  const low = values.reduce((a, b) => Math.min(a, b));
  const high = values.reduce((a, b) => Math.max(a, b));
  return scale === "log" ? logScale(low, high, most) : linearScale(low, high, most);
}

function linearScale(least: number, greatest: number, most: number): Scale {
  const size = Math.max(Math.abs(least), Math.abs(greatest));
  const flat = greatest - least <= size * TOLERANCE;
  const [from, to] = flat ? [least - (size || 2) / 2, greatest + (size || 2) / 2] : [least, greatest];
  let i = rungAtLeast((to - from) / most);
  // Rounding outwards may take up to two steps more.
  const steps = (): [first: number, last: number] => [
    Math.floor(from / rung(i) + TOLERANCE),
    Math.ceil(to / rung(i) - TOLERANCE),
  ];
  while (steps()[1] - steps()[0] > most) i++;
  const step = rung(i);
  const [first, last] = steps();
  const ticks = Array.from({ length: last - first + 1 }, (_, k) => withoutRounding((first + k) * step));
  const low = ticks[0] ?? from;
  const high = ticks.at(-1) ?? to;
  return {
    low,
    high,
    ticks: ticks.map((value) => ({ value, label: formatNumber(value, step) })),
    place: (value) => between01((value - low) / (high - low)),
  };
}

function logScale(least: number, greatest: number, most: number): Scale {
  let first = rungAtMost(least);
  let last = rungAtLeast(greatest);
  if (first === last) {
    first--;
    last++;
  }
  const low = rung(first);
  const high = rung(last);
  const width = Math.log10(high) - Math.log10(low);
  return {
    low,
    high,
    ticks: logTicks(first, last, most).map((value) => ({ value, label: formatNumber(value) })),
    place: (value) => between01((Math.log10(value) - Math.log10(low)) / width),
  };
}

/** Every 1, 2 and 5 if they are few; else every decade; else every third, sixth, … */
function logTicks(first: number, last: number, most: number): number[] {
  let stride = 1;
  if (last - first > most) stride = 3;
  while ((last - first) / stride > most) stride = stride === 3 ? 9 : 2 * stride;
  const ticks: number[] = [];
  for (let i = Math.ceil(first / stride) * stride; i <= last; i += stride) ticks.push(rung(i));
  return ticks;
}

/**
 * The i-th of …, 0.5, 1, 2, 5, 10, 20, …, of which the 0th is 1. Read as a decimal, so that it is the nearest number.
 */
function rung(i: number): number {
  const decade = Math.floor(i / 3);
  return Number(`${[1, 2, 5][i - 3 * decade]}e${decade}`);
}

function rungAtMost(value: number): number {
  let i = 3 * Math.floor(Math.log10(value)) + 3;
  while (rung(i) > value * (1 + TOLERANCE)) i--;
  return i;
}

function rungAtLeast(value: number): number {
  let i = 3 * Math.floor(Math.log10(value)) - 1;
  while (rung(i) < value * (1 - TOLERANCE)) i++;
  return i;
}

const UNITS = [
  [1e12, "T"],
  [1e9, "B"],
  [1e6, "M"],
  [1e3, "k"],
] as const;

/** 0.01, 100, 1k, 20M, 3e-7: in thousands, millions, … unless neighbours `step` apart would then need many digits. */
export function formatNumber(value: number, step: number = Math.abs(value)): string {
  const size = Math.abs(value);
  const sign = value < 0 ? "−" : "";
  if (size > 0 && (size < 1e-4 || size >= 1e15)) {
    return sign + withoutRounding(size).toExponential().replace("e+", "e");
  }
  const [unit, suffix] = UNITS.find(([unit]) => size >= unit && 10 * step >= unit) ?? [1, ""];
  return `${sign}${withoutRounding(size / unit)}${suffix}`;
}

/** 0.6 for 3 · 0.2, and never −0. */
function withoutRounding(value: number): number {
  return Number(value.toPrecision(12)) + 0;
}

function between01(share: number): number {
  return Math.min(Math.max(share, 0), 1);
}

/**
 * The middles of labels of the given heights, between `low` and `high`, without overlaps, and as near to the wanted
 * places as that allows: labels that touch move as one. In the order of `wanted`.
 */
export function spread(
  wanted: readonly number[],
  heights: readonly number[],
  [low, high]: readonly [low: number, high: number],
): number[] {
  const order = wanted.map((_, i) => i).sort((i, j) => (wanted[i] as number) - (wanted[j] as number));
  const blocks: { members: number[]; height: number; pull: number }[] = [];
  const start = ({ members, height, pull }: (typeof blocks)[number]): number =>
    Math.max(low, Math.min(high - height, pull / members.length));
  for (const i of order) {
    const height = heights[i] as number;
    let block = { members: [i], height, pull: (wanted[i] as number) - height / 2 };
    for (let above = blocks.at(-1); above && start(above) + above.height > start(block); above = blocks.at(-1)) {
      blocks.pop();
      block = {
        members: [...above.members, ...block.members],
        height: above.height + block.height,
        pull: above.pull + block.pull - above.height * block.members.length,
      };
    }
    blocks.push(block);
  }
  const middles = [...wanted];
  for (const block of blocks) {
    let top = start(block);
    for (const i of block.members) {
      middles[i] = top + (heights[i] as number) / 2;
      top += heights[i] as number;
    }
  }
  return middles;
}

/** Lines of at most `width` characters, broken between words where possible. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of printable(text).split(/ +/)) {
    let rest = [...(line === "" ? word : `${line} ${word}`)];
    if (rest.length > width && line !== "") {
      lines.push(line);
      rest = [...word];
    }
    while (rest.length > width) lines.push(rest.splice(0, width).join(""));
    line = rest.join("");
  }
  return [...lines, line];
}

/** The text without control characters, which XML forbids and terminals obey. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cs}\uFFFE\uFFFF]/gu, " ").trim();
}
