import { bucketName } from "@lethe/core/statistic";
import { type SimulationOptions, type SimulationResult, simulate } from "./simulate.ts";

/** One figure: a metric, or one bucket of it. */
export interface DemoRow {
  readonly name: string;
  readonly statistic: SimulationResult["statistic"];
  /** Of a histogram: "0", "2–4", "5+". */
  readonly bucket?: string;
  readonly truth: number;
  readonly estimate: number;
  readonly standardError: number;
  readonly interval: readonly [number, number];
}

export interface DemoResult {
  readonly devices: number;
  readonly received: number;
  readonly metrics: readonly DemoRow[];
  /** What a device pays for each metric; for the mean at δ = 10⁻⁶. */
  readonly localEpsilon: Readonly<Record<string, number>>;
  readonly seconds: number;
}

const EDGES = [0, 1, 2, 5];
const COMMON = {
  scheme: "lattice",
  devices: 500,
  ticks: 24,
  localEpsilon: 1,
  metrics: 1,
  edges: EDGES,
  limit: 10,
} as const;

const METRICS: readonly (SimulationOptions & { readonly name: string })[] = [
  { ...COMMON, name: "export.failed", statistic: "occurrence", rate: 0.02 },
  { ...COMMON, name: "export.clicks", statistic: "histogram", rate: 0.08 },
  { ...COMMON, name: "tabs.opened", statistic: "mean", rate: 0.2, sigma: 2 },
];

/** The three statistics, each over five hundred simulated devices; what happened beside what the server learns. */
export function runDemo(progress: (share: number) => void = () => {}): DemoResult {
  const started = performance.now();
  const results = METRICS.map((metric, i) => ({
    name: metric.name,
    result: simulate(metric, (share) => progress((i + share) / METRICS.length)),
  }));
  return {
    devices: COMMON.devices,
    received: Math.min(...results.map(({ result }) => result.valid + result.rejected)),
    metrics: results.flatMap(({ name, result }) => rowsOf(name, result)),
    localEpsilon: Object.fromEntries(results.map(({ name, result }) => [name, result.localEpsilon])),
    seconds: (performance.now() - started) / 1000,
  };
}

function rowsOf(name: string, result: SimulationResult): DemoRow[] {
  return result.truth.map((truth, i) => ({
    name,
    statistic: result.statistic,
    ...(result.statistic === "histogram" && { bucket: bucketName(EDGES, i) }),
    truth,
    estimate: result.estimate[i] as number,
    standardError: result.standardError[i] as number,
    interval: result.interval[i] as readonly [number, number],
  }));
}
