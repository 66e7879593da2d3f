import {
  createScale,
  type DrawableLine,
  drawableLines,
  formatNumber,
  type Plot,
  type Point,
  printable,
  type Scale,
  spread,
  wrap,
} from "./plot.ts";

const WIDTH = 720;
const EDGE = 20;
const FONT = 12;
const LINE_HEIGHT = 16;
/** The width of a character as a share of the font size, generously: the reader's font is unknown. */
const CHARACTER_WIDTH = 0.58;
/** Beside the frame: a lead from the line's end, a sample of the line, a gap, and the name. */
const BESIDE = { lead: 14, sample: 29, gap: 6 };
/** In characters. */
const LONGEST = { title: 72, name: 26, note: 110 };
/** On a line that does not say whether it has marks. */
const FEW_MARKS = 8;

/** The palette of Okabe and Ito, without its yellow; the second of each pair is dark enough for text on white. */
const COLOURS = [
  ["#0072b2", "#0072b2"],
  ["#d55e00", "#b34f00"],
  ["#009e73", "#007a59"],
  ["#cc79a7", "#a3497c"],
  ["#e69f00", "#8a6000"],
  ["#56b4e9", "#23739f"],
  ["#333333", "#333333"],
] as const;
const DASHED = "7 4";
const DASHES = ["", DASHED, "2 3", "11 3 2 3"] as const;
const INK = "#222";
const SOFT_INK = "#666";

/** In pixels, from the top left corner. */
type Spot = readonly [x: number, y: number];

interface Look {
  readonly colour: string;
  readonly ink: string;
  readonly dash: string;
  readonly marked: boolean;
}

interface Layout {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
  readonly x: Scale;
  readonly y: Scale;
  spotOf(point: Point): Spot;
}

/**
 * Draws a plot as a standalone SVG: no scripts, no fonts, a white background. The same plot always gives the same text.
 */
export function renderSvg(plot: Plot): string {
  const lines = drawableLines(plot);
  const title = wrap(plot.title, LONGEST.title);
  const note = plot.note === undefined ? [] : wrap(plot.note, LONGEST.note);
  const layout = layOut(plot, lines, 48 + 20 * title.length);
  const { top, bottom } = layout;
  const height = round(bottom + 56 + (note.length > 0 ? 8 + 15 * note.length : 0));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}"` +
      ` role="img" font-family="system-ui, sans-serif" font-size="${FONT}">`,
    `<title>${escapeXml(plot.title)}</title>`,
    `<desc>${escapeXml(describe(plot, lines))}</desc>`,
    `<rect width="${WIDTH}" height="${height}" fill="#fff"/>`,
    ...title.map((line, i) => text([EDGE, 34 + 20 * i], line, `font-size="16" font-weight="600" fill="${INK}"`)),
    text([EDGE, top - 16], plot.y.label, `fill="${SOFT_INK}"`),
    ...drawAxes(layout, plot.x.label),
    ...drawLabels(layout, lines),
    ...lines.flatMap((line) => drawLine(layout, line, lines.length > 1)),
    ...note.map((line, i) => text([EDGE, bottom + 66 + 15 * i], line, `font-size="11" fill="${SOFT_INK}"`)),
    "</svg>",
    "",
  ].join("\n");
}

/** Long names make the frame narrower, many names make it higher. */
function layOut(plot: Plot, lines: readonly DrawableLine[], top: number): Layout {
  const points = lines.flatMap((line) => line.points);
  const xs = points.map((point) => point[0]);
  const ys = points.map((point) => point[1]);
  const x = createScale(plot.x, xs, 9);
  const y = createScale(plot.y, ys, 8);
  const names = lines.flatMap(({ line }) => wrap(line.name, LONGEST.name));
  const left = EDGE + widest(y.ticks.map(({ label }) => label)) + 8;
  const right = WIDTH - EDGE - widest(names) - BESIDE.lead - BESIDE.sample - BESIDE.gap;
  const bottom = top + Math.max(290, names.length * LINE_HEIGHT);
  const spotOf = ([atX, atY]: Point): Spot => [
    left + x.place(atX) * (right - left),
    bottom - y.place(atY) * (bottom - top),
  ];
  return { left, right, top, bottom, x, y, spotOf };
}

function drawAxes({ left, right, top, bottom, x, y, spotOf }: Layout, label: string): string[] {
  const columns = x.ticks.map((tick) => ({ at: spotOf([tick.value, y.low])[0], label: tick.label }));
  const rows = y.ticks.map((tick) => ({ at: spotOf([x.low, tick.value])[1], label: tick.label }));
  return [
    '<g stroke="#e6e6e6">',
    ...columns.map(({ at }) => stroke([at, top], [at, bottom])),
    ...rows.map(({ at }) => stroke([left, at], [right, at])),
    "</g>",
    stroke([left, bottom], [right, bottom], 'stroke="#999"'),
    `<g fill="${SOFT_INK}" text-anchor="middle">`,
    ...columns.map(({ at, label }) => text([at, bottom + 19], label)),
    text([(left + right) / 2, bottom + 41], label),
    "</g>",
    `<g fill="${SOFT_INK}" text-anchor="end">`,
    ...rows.map(({ at, label }) => text([left - 8, at + 4], label)),
    "</g>",
  ];
}

/** Draws each name beside the end of its line, or as near as there is room: a dotted lead, a sample and the name. */
function drawLabels({ right, top, bottom, spotOf }: Layout, lines: readonly DrawableLine[]): string[] {
  const names = lines.map(({ line }) => wrap(line.name, LONGEST.name));
  const ends = lines.map(({ points }) => spotOf(points.reduce((a, b) => (b[0] >= a[0] ? b : a))));
  const middles = spread(
    ends.map((end) => end[1]),
    names.map((name) => name.length * LINE_HEIGHT),
    [top - LINE_HEIGHT / 2, bottom + LINE_HEIGHT / 2],
  );
  return lines.flatMap((line, i) => {
    const { colour, ink, dash, marked } = lookOf(line, lines.length > 1);
    const [name, end, middle] = [names[i] ?? [], ends[i] as Spot, middles[i] as number];
    const from = right + BESIDE.lead;
    const to = from + BESIDE.sample;
    const sample = [from, to].map((x): Spot => [x, middle]);
    const baseline = middle - ((name.length - 1) * LINE_HEIGHT) / 2 + 4;
    return [
      stroke(end, [from - 4, middle], `stroke="${colour}" stroke-dasharray="1 3" stroke-linecap="round"`),
      drawPath(sample, colour, dash),
      ...drawMarks(marked ? [[(from + to) / 2, middle]] : [], colour, line.index),
      ...name.map((part, k) =>
        text([to + BESIDE.gap, baseline + k * LINE_HEIGHT], part, `class="name" fill="${ink}" font-weight="500"`),
      ),
    ];
  });
}

function drawLine({ spotOf }: Layout, line: DrawableLine, several: boolean): string[] {
  const { colour, dash, marked } = lookOf(line, several);
  const spots = line.points.map(spotOf);
  const every = line.line.marks === true ? 1 : Math.ceil(spots.length / FEW_MARKS);
  // Counted from the end, where the name is.
  const marks = spots.filter((_, i) => marked && (spots.length - 1 - i) % every === 0);
  return [drawPath(spots, colour, dash), ...drawMarks(marks, colour, line.index)];
}

/** Lines differ even in black and white: by their marks or, without marks, by their dashes. */
function lookOf({ line, index, points }: DrawableLine, several: boolean): Look {
  const [colour, ink] = COLOURS[index % COLOURS.length] ?? COLOURS[0];
  // A single point would not be seen without.
  const marked = (line.marks ?? several) || points.length === 1;
  const ownDash = marked ? "" : (DASHES[index % DASHES.length] ?? "");
  const dash = line.style === undefined ? ownDash : line.style === "dashed" ? DASHED : "";
  return { colour, ink, dash, marked };
}

function drawPath(spots: readonly Spot[], colour: string, dash: string): string {
  const ends = dash === "" ? 'stroke-linecap="round"' : `stroke-dasharray="${dash}"`;
  const d = `M${spots.map(pair).join("L")}`;
  return `<path d="${d}" fill="none" stroke="${colour}" stroke-width="2.2" stroke-linejoin="round" ${ends}/>`;
}

function drawMarks(spots: readonly Spot[], colour: string, index: number): string[] {
  if (spots.length === 0) return [];
  const marks = spots.map((spot) => mark(spot, index));
  return [`<g fill="${colour}" stroke="#fff" stroke-width="1.2">`, ...marks, "</g>"];
}

/** A disc, a square, a triangle or a diamond, of about the same area. */
function mark([x, y]: Spot, index: number): string {
  const shapes = [
    () => `<circle cx="${round(x)}" cy="${round(y)}" r="4.2"/>`,
    () => `<rect x="${round(x - 3.9)}" y="${round(y - 3.9)}" width="7.8" height="7.8"/>`,
    () => `<path d="M${pair([x, y - 5.4])}l5.1 9h-10.2z"/>`,
    () => `<path d="M${pair([x, y - 5.6])}l5.6 5.6l-5.6 5.6l-5.6 -5.6z"/>`,
  ] as const;
  return (shapes[index % shapes.length] ?? shapes[0])();
}

/** For those who cannot see it: what is drawn, and where each line begins and ends. */
function describe({ x, y }: Plot, lines: readonly DrawableLine[]): string {
  const figure = (value: number): string => formatNumber(Number(value.toPrecision(3)));
  const at = ([atX, atY]: Point): string => `${figure(atY)} at ${figure(atX)}`;
  const routes = lines.map(({ line, points }) => {
    const [first, last] = [points[0], points.at(-1)];
    if (first === undefined || last === undefined) return line.name;
    return points.length === 1 ? `${line.name}: ${at(first)}` : `${line.name}: from ${at(first)} to ${at(last)}`;
  });
  return `${y.label} against ${x.label}. ${routes.join("; ")}.`;
}

function stroke([x1, y1]: Spot, [x2, y2]: Spot, attributes = ""): string {
  const ends = `x1="${round(x1)}" y1="${round(y1)}" x2="${round(x2)}" y2="${round(y2)}"`;
  return `<line ${ends}${attributes && ` ${attributes}`}/>`;
}

function text([x, y]: Spot, content: string, attributes = ""): string {
  return `<text x="${round(x)}" y="${round(y)}"${attributes && ` ${attributes}`}>${escapeXml(content)}</text>`;
}

function pair([x, y]: Spot): string {
  return `${round(x)} ${round(y)}`;
}

/** Rounded, so that the last digits of a processor's logarithms do not show. */
function round(pixels: number): number {
  return Math.round(pixels * 10) / 10 + 0;
}

function widest(texts: readonly string[]): number {
  return texts.reduce((most, line) => Math.max(most, [...line].length), 0) * FONT * CHARACTER_WIDTH;
}

function escapeXml(content: string): string {
  const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  return printable(content).replace(/[&<>"]/g, (character) => entities[character] ?? character);
}
