import { type Line, renderSvg } from "../plot/index.ts";
import type { Finding, Table } from "./experiment.ts";
import { figure, signed } from "./figures.ts";
import type { LowerBoundPoint, LowerBoundResult, Series } from "./lower-bound.ts";

/** Tables, picture and reading from the figures. */
export function describeLowerBound(result: LowerBoundResult): Finding {
  return {
    json: jsonOf(result),
    tables: [errorTable(result), slopeTable(result)],
    reading: readingOf(result),
    svg: pictureOf(result),
  };
}

function jsonOf({ epsilon, size, letheRuns, points, fits }: LowerBoundResult): object {
  const each = (field: "slope" | "standardError"): object =>
    Object.fromEntries(Object.entries(fits).map(([series, fit]) => [series, fit[field]]));
  return {
    slopes: each("slope"),
    slopeStandardErrors: each("standardError"),
    epsilon,
    runs: size.runs,
    lethe: { devices: size.lethe.fleet, runs: letheRuns },
    points,
  };
}

const NAMES: Readonly<Record<Series, string>> = {
  informationTheoretic: "without cryptography, no event or one",
  atMostOneEvent: "without cryptography, at most one event",
  anyStreams: "without cryptography, any streams",
  lethe: "Lethe",
  randomizedResponse: "plain randomized response",
};
const EXPECTED: Readonly<Record<Series, number>> = {
  informationTheoretic: 0.5,
  atMostOneEvent: 0.5,
  anyStreams: 1,
  lethe: 0,
  randomizedResponse: 0,
};
const ORDER: readonly Series[] = [
  "anyStreams",
  "atMostOneEvent",
  "informationTheoretic",
  "lethe",
  "randomizedResponse",
];

function errorTable({ points, size, letheRuns }: LowerBoundResult): Table {
  const { devices, runs, lethe } = size;
  return {
    caption: `Root of the mean square error, in devices out of ${figure(devices)}, measured over ${figure(runs)} windows (Lethe: ${figure(letheRuns)} counts over ${lethe.fleet} devices each, scaled); in brackets, the error by theory`,
    columns: ["T", ...ORDER.map((series) => NAMES[series]), "paper's bound, constant 1", "van Trees' bound"],
    rows: points.map((point) => [
      figure(point.T),
      ...ORDER.map((series) => `${cut(point, point[series])} (${cut(point, point.theory[series])})`),
      figure(point.lowerBound),
      point.vanTrees === 0 ? "–" : figure(point.vanTrees),
    ]),
    words: 0,
  };
}

function slopeTable({ fits }: LowerBoundResult): Table {
  return {
    caption: "How the error grows: the exponent of T, fitted",
    columns: ["", "exponent", "±", "theory"],
    rows: ORDER.map((series) => [
      NAMES[series],
      signed(fits[series].slope, 3),
      fits[series].standardError.toFixed(4),
      String(EXPECTED[series]),
    ]),
    words: 1,
  };
}

/** No counter need be worse than a constant answer, n/2. */
function capped({ devices }: LowerBoundPoint, error: number): number {
  return Math.min(error, devices / 2);
}

function cut(point: LowerBoundPoint, error: number): string {
  return error > point.devices / 2 ? `${figure(error)} > n/2` : figure(error);
}

function readingOf(result: LowerBoundResult): string {
  const { points, fits } = result;
  const last = points.at(-1) as LowerBoundPoint;
  const wrong = ORDER.filter((series) => Math.abs(fits[series].slope - EXPECTED[series]) > TOLERANCE[series]);
  const slope = (series: Series): string =>
    `${signed(fits[series].slope, 3)} ± ${fits[series].standardError.toFixed(3)}`;
  return [
    `Without cryptography the error grows like T to the power of ${slope("informationTheoretic")} (no event or one) and ${slope("atMostOneEvent")} (at most one event). If any two streams must look alike, it grows like T to the power of ${slope("anyStreams")}. Lethe's grows like T to the power of ${slope("lethe")}.`,
    wrong.length === 0
      ? "That is the √T of the paper, the T that it conjectures for the widest scope (as far as this counter goes), and no growth at all for Lethe."
      : `That is NOT as claimed: ${wrong.map((series) => NAMES[series]).join(", ")}.`,
    `At T = ${figure(last.T)}, with ${figure(last.devices)} devices, the error of the best counter without cryptography is ${figure(last.informationTheoretic)}, and Lethe's is ${figure(last.lethe)}. The first is ${(last.informationTheoretic / last.lethe).toFixed(1)} times as large; √T = ${Math.sqrt(last.T).toFixed(1)}.`,
    comparisonWithBounds(points),
    "This shows how the errors of these counters grow, at one ε and one share of events. That no other counter without cryptography does better is the paper's proof, not a measurement.",
  ].join(" ");
}

/** How far a slope may be from its claim. */
const TOLERANCE: Readonly<Record<Series, number>> = {
  informationTheoretic: 0.05,
  atMostOneEvent: 0.05,
  anyStreams: 0.05,
  lethe: 0.02,
  randomizedResponse: 0.05,
};

function comparisonWithBounds(points: readonly LowerBoundPoint[]): string {
  const proved = points.filter(({ vanTrees }) => vanTrees > 0);
  const broken = proved.filter((point) => capped(point, point.informationTheoretic) < 0.9 * point.vanTrees);
  if (broken.length > 0) {
    return `At ${broken.length} of ${proved.length} T the best counter came BELOW the bound of van Trees, which is about an average over how likely the event is. That counter's error does not depend on it, so something is wrong.`;
  }
  const below = proved.filter((point) => point.lethe < point.vanTrees);
  const tightest = Math.max(...proved.map((point) => point.vanTrees / point.informationTheoretic));
  return `No counter without cryptography came below the bound that is proved with all constants, for the error on average over how likely the event is. At best the bound is ${Math.round(100 * tightest)}% of what the best counter attains here, where one device in ten has the event. Lethe is below the bound at ${below.length} of the ${proved.length} T where it says anything: that is what encryption buys.`;
}

function pictureOf({ points, size }: LowerBoundResult): string {
  const line = (series: Series, style?: "dashed"): Line => ({
    name: NAMES[series],
    points: points.map((point) => [point.T, capped(point, point[series])]),
    marks: true,
    ...(style && { style }),
  });
  return renderSvg({
    title: "Counting on how many devices it happened: the error as windows grow",
    x: { label: "ticks T", scale: "log" },
    y: { label: `root of the mean square error, in devices of ${figure(size.devices)}`, scale: "log" },
    lines: [
      ...ORDER.slice(0, 4).map((series) => line(series)),
      line("randomizedResponse", "dashed"),
      { name: "paper's bound, constant 1", points: points.map(({ T, lowerBound }) => [T, lowerBound]), marks: false },
      { name: "van Trees' bound", points: points.map(({ T, vanTrees }) => [T, vanTrees]), marks: false },
    ],
    note: "Measured. Cut at half the devices, which the constant answer “half of them” attains. The paper's bound coincides with the counter that attains it.",
  });
}
