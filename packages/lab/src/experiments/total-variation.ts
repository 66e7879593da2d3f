import { logBinomial } from "@lethe/core/privacy";
import { finalCount, totalVariationOf } from "../baseline/final-count.ts";
import { type Line, type Point as PlotPoint, renderSvg } from "../plot/index.ts";
import type { Experiment, Finding, Surroundings, Table } from "./experiment.ts";
import { whole } from "./figures.ts";
import { wrapMarkdown } from "./wrap-markdown.ts";

/** Which distances are computed. */
export interface TotalVariationSize {
  readonly epsilons: readonly number[];
  readonly ticks: readonly number[];
}

/** One distance, computed in all ways. */
export interface TotalVariationPoint {
  readonly epsilon: number;
  readonly T: number;
  /** 1/(1+e^ε): how often a randomized bit is wrong. */
  readonly p: number;
  /** Half the sum of all differences. */
  readonly exact: number;
  /** (1−2p)·Pr[Bin(T−1, p) = ⌈Tp⌉−1]. */
  readonly closedForm: number;
  /** The equality in the paper's appendix. */
  readonly printed: number;
  /** The inequality after it. */
  readonly bound: number;
}

const FULL: TotalVariationSize = {
  epsilons: [0.1, 0.5, 1, 2, 4],
  ticks: [2, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_000_000],
};

/** Computes the distance for every ε and T. */
export function runTotalVariation(
  { epsilons, ticks }: TotalVariationSize,
  { progress }: Pick<Surroundings, "progress">,
): TotalVariationPoint[] {
  const questions = epsilons.flatMap((epsilon) => ticks.map((T) => [epsilon, T] as const));
  return questions.map(([epsilon, T], i) => {
    const point = { epsilon, ...distanceAt(T, 1 / (1 + Math.exp(epsilon))) };
    progress((i + 1) / questions.length);
    return point;
  });
}

/** Computes the distance at one T and p in all ways. */
export function distanceAt(T: number, p: number): Omit<TotalVariationPoint, "epsilon"> {
  const slope = 1 - 2 * p;
  const coin = { heads: p, tails: 1 - p };
  const top = Math.ceil(T * p);
  return {
    T,
    p,
    exact: totalVariationOf(finalCount(T, p)),
    closedForm: slope * Math.exp(logBinomial(T - 1, coin, top - 1)),
    printed: 2 * slope * (top / (T * p)) * Math.exp(logBinomial(T, coin, top)),
    bound: slope / Math.sqrt(4 * p * (1 - p) * T),
  };
}

/** What the points have in common. */
export interface TotalVariationSummary {
  /** The largest |closedForm/exact − 1|. */
  readonly largestGap: number;
  /** printed/exact, the least and the largest. */
  readonly printedRatio: readonly [number, number];
  readonly printedAboveBound: number;
  /** exact/bound, the least and the largest. */
  readonly shareOfBound: readonly [number, number];
}

/** The extremes over all points. */
export function summarizeDistances(points: readonly TotalVariationPoint[]): TotalVariationSummary {
  const gaps = points.map(({ exact, closedForm }) => Math.abs(closedForm / exact - 1));
  return {
    largestGap: Math.max(...gaps),
    printedRatio: rangeOf(points.map(({ printed, exact }) => printed / exact)),
    printedAboveBound: points.filter(({ printed, bound }) => printed > bound).length,
    shareOfBound: rangeOf(points.map(({ exact, bound }) => exact / bound)),
  };
}

function rangeOf(values: readonly number[]): [number, number] {
  return [Math.min(...values), Math.max(...values)];
}

/** How far one event moves the count of a counter without cryptography. */
export const totalVariation: Experiment = {
  about: wrapMarkdown(`
A counter that hides events without cryptography must randomize each tick: it adds a 1 or a 0, and the wrong one with
probability p = 1/(1+e^ε). After T ticks only a count is left. The paper's lower bound rests on how little one event
moves this count: on the total variation between Bin(T, p) and Bin(T−1, p) + Bernoulli(1−p). Nobody who sees one count
tells the two worlds apart with a larger advantage.

The paper's appendix states the distance twice. First as an equality, 2(1−2p)·(⌈Tp⌉/Tp)·Pr[Bin(T, p) = ⌈Tp⌉]; then as an
upper bound, (1−2p)/√(4p(1−p)T). **The equality has a factor 2 too many**; the bound, on which everything else rests, is
right.

Here is a shorter proof of the right equality. Let B be the distribution of Bin(T−1, p). The two distributions are
(1−p)·B(m) + p·B(m−1) and p·B(m) + (1−p)·B(m−1), so they differ by (1−2p)·(B(m) − B(m−1)). B rises to its mode ⌈Tp⌉−1
and falls after it. The rises add up to B(⌈Tp⌉−1), and so do the falls; half of both together is

> TV = (1−2p)·Pr[Bin(T−1, p) = ⌈Tp⌉−1].

As ⌈Tp⌉·Pr[Bin(T, p) = ⌈Tp⌉] = Tp·Pr[Bin(T−1, p) = ⌈Tp⌉−1], the printed expression is exactly twice this. The slip: De
Moivre's mean absolute deviation gives 2·TV, and the 2 stayed on the wrong side. For large T the distance is √(2/π) =
0.798 of the bound.

**How it is tested.** *Exact* uses no formula. Both distributions are computed count by count, by ratios of neighbours
from the mode, and normalised; then all |differences| are added up, up to T = 1,000,000. The closed form comes from one
binomial probability [Loader 2000]. The two computations share nothing but p. The picture shows everything as a share of
the paper's bound: a value above 1 is not possible.
`),
  run: async ({ progress }) => describeTotalVariation({ points: runTotalVariation(FULL, { progress }) }),
};

/** Tables, picture and reading from the figures. */
export function describeTotalVariation({ points }: { readonly points: readonly TotalVariationPoint[] }): Finding {
  return { json: { points }, tables: [tableOf(points)], reading: readingOf(points), svg: pictureOf(points) };
}

const TABLE_TICKS = [2, 16, 256, 4096, 65_536, 1_000_000];

function tableOf(points: readonly TotalVariationPoint[]): Table {
  return {
    columns: ["ε", "T", "p", "exact", "closed form, corrected", "upper bound", "as printed", "printed/exact"],
    rows: points
      .filter(({ T }) => TABLE_TICKS.includes(T))
      .map(({ epsilon, T, p, exact, closedForm, bound, printed }) => [
        String(epsilon),
        whole(T),
        p.toPrecision(6),
        ...[exact, closedForm, bound, printed].map((value) => value.toPrecision(8)),
        (printed / exact).toFixed(6),
      ]),
    words: 0,
  };
}

/** The largest relative difference that rounding in both computations explains. */
const SAME = 1e-10;

function readingOf(points: readonly TotalVariationPoint[]): string {
  const { largestGap, printedRatio, printedAboveBound, shareOfBound } = summarizeDistances(points);
  const [least, most] = printedRatio;
  const all = points.length;
  const largest = points.reduce((a, b) => (b.T >= a.T ? b : a));
  return [
    largestGap < SAME
      ? `The corrected closed form is the exact distance at all ${all} points: the relative difference is at most ${largestGap.toExponential(0)}, which is rounding.`
      : `The corrected closed form is NOT the exact distance: the relative difference is up to ${largestGap.toExponential(1)}.`,
    `The printed equality gives ${least.toFixed(6)} to ${most.toFixed(6)} times the distance, and is above the paper's own upper bound at ${printedAboveBound} of ${all} points.`,
    shareOfBound[1] <= 1
      ? `The bound itself holds everywhere: the exact distance is between ${shareOfBound[0].toFixed(3)} and ${shareOfBound[1].toFixed(3)} of it. At T = ${whole(largest.T)} and ε = ${largest.epsilon} it is ${(largest.exact / largest.bound).toFixed(4)} of it; the limit is √(2/π) = ${Math.sqrt(2 / Math.PI).toFixed(4)}.`
      : `The bound FAILS: the exact distance is up to ${shareOfBound[1].toFixed(3)} of it.`,
    "This is one counter, which adds up randomized bits, at these ε and T, with one event or none. The proof above covers every T; about other counters neither says anything.",
  ].join(" ");
}

function pictureOf(points: readonly TotalVariationPoint[]): string {
  const line = (epsilon: number, value: (point: TotalVariationPoint) => number): PlotPoint[] =>
    points.filter((point) => point.epsilon === epsilon).map((point) => [point.T, value(point) / point.bound]);
  const epsilons = [...new Set(points.map(({ epsilon }) => epsilon))];
  const [first, middle, last] = [epsilons[0], epsilons[epsilons.length >> 1], epsilons.at(-1)] as [
    number,
    number,
    number,
  ];
  const lines: Line[] = [
    { name: `as printed, ε = ${middle}`, points: line(middle, ({ printed }) => printed), style: "dashed" },
    { name: "the paper's upper bound", points: line(middle, ({ bound }) => bound), marks: false },
    ...[first, middle, last].map((epsilon) => ({
      name: `exact, ε = ${epsilon}`,
      points: line(epsilon, ({ exact }) => exact),
    })),
    { name: `corrected, ε = ${middle}`, points: line(middle, ({ closedForm }) => closedForm), style: "dashed" },
  ];
  return renderSvg({
    title: "How far one event moves a count, as a share of the bound",
    x: { label: "ticks T", scale: "log" },
    y: { label: "total variation / upper bound", scale: "linear" },
    lines,
    note: "No distance can be above the bound: the printed equality has a factor 2 too many. Corrected and exact coincide.",
  });
}
