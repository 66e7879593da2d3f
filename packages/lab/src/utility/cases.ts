/**
 * Measured errors beside stated ones: fleets whose truth is known. `cases.ts` lists what is measured, `run.ts` runs
 * real devices and servers, `plain.ts` the mechanisms without encryption, `paper.ts` what the paper prints, and
 * `errors.ts` compares. Imports core, `simulate`, `randomness` and `arithmetic`. The experiment `utility` runs it.
 */
import { serverNoiseSigma } from "@lethe/core/privacy";
import {
  type HistogramMechanismName,
  MEAN_DELTA,
  type SchemeName,
  type StatisticName,
  type StatisticSpec,
  twoServerRunOf,
} from "@lethe/core/statistic";
import type { TwoServerSpec } from "@lethe/core/two-server";

/** One way to count, with real keys and reports, and how often it is tried. */
export interface UtilityCase {
  readonly spec: { readonly scheme: SchemeName; readonly one: StatisticSpec } | { readonly two: TwoServerSpec };
  /** In each window. */
  readonly devices: number;
  readonly windows: number;
  /** Counters beside each other, each of which is an independent run. */
  readonly metrics: number;
}

/** ε₀ of every answer; for Gaussian noise at δ = 10⁻⁶. */
export const LOCAL_EPSILON = 1;
/** Ticks per window. How errors grow with them is the question of another experiment. */
export const TICKS = 1;
/** How many events between two writes are counted. */
export const EVENTS_PER_TICK = 8;
/** Where the buckets of histograms begin. */
export const EDGES: readonly number[] = [0, 1, 2];
/** At which count a mean is cut. */
export const LIMIT = 3;
/** The noise of a mean, in units of the limit. */
export const SIGMA = 2;
const MECHANISMS: readonly HistogramMechanismName[] = ["kary", "unary", "per-bucket"];

/** No page hides: their number changes sizes, not errors. */
const WRITES = { ticks: TICKS, hides: 0 } as const;
const WINDOW = { ...WRITES, eventsPerTick: EVENTS_PER_TICK } as const;

function occurrenceOf(metrics: number): StatisticSpec & { statistic: "occurrence" } {
  return { statistic: "occurrence", ...WRITES, localEpsilons: new Array<number>(metrics).fill(LOCAL_EPSILON) };
}

/** A histogram with this mechanism. */
export function histogramOf(
  mechanism: HistogramMechanismName,
  localEpsilon: number = LOCAL_EPSILON,
): StatisticSpec & { statistic: "histogram" } {
  return { statistic: "histogram", ...WINDOW, edges: EDGES, localEpsilon, mechanism };
}

/** A mean with this limit and noise. */
export function meanOf(limit: number, sigma: number): StatisticSpec & { statistic: "mean" } {
  return { statistic: "mean", ...WINDOW, limit, sigma };
}

/** All cases; with an `effort` of 1 they take most of a minute. */
export function utilityCases(effort: number): UtilityCase[] {
  const times = (windows: number): number => Math.max(2, Math.round(effort * windows));
  return [...oneServerCases(times), ...twoServerCases(times)];
}

function oneServerCases(times: (windows: number) => number): UtilityCase[] {
  const single = (scheme: SchemeName, one: StatisticSpec, devices: number, windows: number): UtilityCase => ({
    spec: { scheme, one },
    devices,
    windows: times(windows),
    metrics: 1,
  });
  return [
    { spec: { scheme: "lattice", one: occurrenceOf(900) }, devices: 25, windows: times(4), metrics: 900 },
    { spec: { scheme: "elgamal", one: occurrenceOf(30) }, devices: 2, windows: times(6), metrics: 30 },
    ...MECHANISMS.map((mechanism) => single("lattice", histogramOf(mechanism), 10, 120)),
    ...MECHANISMS.map((mechanism) => single("elgamal", histogramOf(mechanism), 2, 36)),
    single("lattice", meanOf(LIMIT, SIGMA), 4, 400),
    single("elgamal", meanOf(LIMIT, SIGMA), 1, 120),
  ];
}

function twoServerCases(times: (windows: number) => number): UtilityCase[] {
  const two = (spec: TwoServerSpec, devices: number, windows: number, metrics = 1): UtilityCase => ({
    spec: { two: spec },
    devices,
    windows: times(windows),
    metrics,
  });
  const sigma = (statistic: StatisticName): number =>
    serverNoiseSigma(twoServerRunOf(statistic).exposure({ limit: LIMIT }), LOCAL_EPSILON, MEAN_DELTA);
  const noise = "servers" as const;
  const sigmas = new Array<number>(20).fill(sigma("occurrence"));
  return [
    two({ ...occurrenceOf(20), noise: "device" }, 2, 4, 20),
    ...MECHANISMS.map((mechanism) => two({ ...histogramOf(mechanism), noise: "device" }, 2, 18)),
    two({ statistic: "occurrence", noise, ...WRITES, sigmas }, 1, 7, 20),
    two({ statistic: "histogram", noise, ...WINDOW, edges: EDGES, sigma: sigma("histogram") }, 1, 30),
    two({ statistic: "mean", noise, ...WINDOW, limit: LIMIT, sigma: sigma("mean") }, 1, 40),
  ];
}
