import { renderSvg } from "../plot/index.ts";
import { CONFIDENCE, type Comparison } from "../utility/errors.ts";
import type { PaperFindings } from "../utility/paper.ts";
import type { Finding, Table } from "./experiment.ts";
import { figure, signed, whole } from "./figures.ts";
import type { UtilityResult, UtilityRow } from "./utility.ts";

/** Tables, picture and reading from the figures. */
export function describeUtility(result: UtilityResult): Finding {
  const { rows, paper } = result;
  return {
    json: { confidence: CONFIDENCE, rows, paper },
    tables: [rowTable(rows), responseTable(paper), algorithmTable(paper), countTable(paper)],
    reading: `${readRows(rows)} ${readPaper(paper)}`,
    svg: pictureOf(rows),
  };
}

function rowTable(rows: readonly UtilityRow[]): Table {
  return {
    caption: "Measured error beside theory; for a histogram, over all buckets",
    columns: ["", "statistic", "servers", "noise", "scheme", "mechanism", "devices", "runs", ...COMPARED],
    rows: rows.map((row, i) => [
      String(i + 1),
      row.statistic,
      row.mode === "none" ? "–" : row.mode === "one-server" ? "one" : "two",
      row.noise === "device" ? "devices" : "servers",
      row.scheme === "none" ? "–" : row.scheme,
      row.mechanism,
      String(row.devices),
      whole(row.runs),
      ...compared(row),
    ]),
    words: 6,
  };
}

const COMPARED = ["measured", "theory", "ratio", "between", "bias"];

function compared({ measured, theory, ratio, low, high, bias }: Comparison): string[] {
  return [
    figure(measured),
    figure(theory),
    ratio.toFixed(3),
    `${low.toFixed(2)} – ${high.toFixed(2)}`,
    signed(bias, 1),
  ];
}

function responseTable({ responses }: PaperFindings): Table {
  return {
    caption: "The paper's formula for the error of randomized response",
    columns: ["ε₀", "devices", "runs", ...COMPARED, "as printed", "printed/measured"],
    rows: responses.map((row) => [
      String(row.epsilon),
      String(row.devices),
      whole(row.runs),
      ...compared(row),
      figure(row.printed),
      (row.printed / row.measured).toFixed(2),
    ]),
    words: 0,
  };
}

function algorithmTable({ algorithms }: PaperFindings): Table {
  return {
    caption: "The paper's algorithms with the noise that they print, as real reports",
    columns: ["", "ε meant", "ε attained", "devices", "runs", ...COMPARED, "error at the ε meant"],
    rows: algorithms.map((row) => [
      row.algorithm,
      figure(row.epsilonMeant),
      figure(row.epsilonTrue),
      String(row.devices),
      whole(row.runs),
      ...compared(row),
      figure(row.right),
    ]),
    words: 1,
  };
}

function countTable({ counts }: PaperFindings): Table {
  return {
    caption: "Counts of the paper's loops, before any noise",
    columns: ["", "truth", "as printed"],
    rows: counts.map(({ what, truth, printed }) => [what, figure(truth), figure(printed)]),
    words: 1,
  };
}

/** A normal figure exceeds it once in 150,000 times; there are some twenty rows, with three answers each. */
const LARGEST_BIAS = 4.5;

function readRows(rows: readonly UtilityRow[]): string {
  const off = rows.flatMap(({ low, high, bias }, i) =>
    low > 1 || high < 1 || Math.abs(bias) > LARGEST_BIAS ? [i + 1] : [],
  );
  const ratios = rows.map(({ ratio }) => ratio);
  const runs = rows.reduce((sum, row) => sum + row.runs, 0);
  const span = `between ${Math.min(...ratios).toFixed(2)} and ${Math.max(...ratios).toFixed(2)} of what is stated`;
  if (off.length > 0) return `Errors are NOT what theory says in rows ${off.join(", ")}; overall they are ${span}.`;
  const tight = rows.filter(({ low, high }) => high - low < 0.25).length;
  return `In all ${rows.length} rows, over ${whole(runs)} runs, the measured error is ${span}, every interval holds the ratio 1, and no estimate is biased by more than chance allows. In ${tight} rows the interval is narrower than 0.25; in the others there was only time to exclude gross errors.`;
}

function readPaper({ responses, algorithms, counts }: PaperFindings): string {
  const wrong = responses.map(
    ({ epsilon, printed, measured }) => `${(printed / measured).toFixed(2)} of the error at ε₀ = ${epsilon}`,
  );
  const spent = algorithms.map(
    ({ algorithm, epsilonMeant, epsilonTrue }) =>
      `${algorithm}, ${epsilonTrue > 1.001 * epsilonMeant ? "gives" : "keeps its promise:"} ε = ${figure(epsilonTrue)} where ${figure(epsilonMeant)} was meant`,
  );
  const lost = counts.map(({ what, truth, printed }) => `${what}: ${figure(printed)} instead of ${figure(truth)}`);
  return `The paper's formula for randomized response does not give the error, but ${wrong.join(", ")}. ${spent.join("; ")}. As printed, the loops count wrongly before any noise: ${lost.join("; ")}.`;
}

function pictureOf(rows: readonly UtilityRow[]): string {
  const line = (value: (row: UtilityRow) => number): [number, number][] => rows.map((row, i) => [i + 1, value(row)]);
  return renderSvg({
    title: "Measured error as a multiple of the standard error that is stated",
    x: { label: "row of the table", scale: "linear" },
    y: { label: "measured / theory", scale: "linear" },
    lines: [
      { name: "measured", points: line(({ ratio }) => ratio), marks: true },
      { name: "theory", points: line(() => 1), marks: false, style: "dashed" },
      { name: "true ratio at most", points: line(({ high }) => high), marks: false },
      { name: "true ratio at least", points: line(({ low }) => low), marks: false },
    ],
    note: "Intervals of 99.99%. The first rows have no encryption and many runs; ElGamal and two servers have the fewest.",
  });
}
