import type { Release, Task } from "@lethe/core/message";
import type { Truth } from "../fleet/truth.ts";

/** One figure: a metric, or one bucket of it. */
export interface DemoRow {
  readonly name: string;
  readonly statistic: Task["metrics"][number]["statistic"];
  /** Of a histogram: "0", "2–4", "5+". */
  readonly bucket?: string;
  readonly truth: number;
  readonly estimate: number;
  readonly standardError: number;
  readonly interval: readonly [number, number];
}

export interface DemoResult {
  readonly window: number;
  readonly devices: number;
  readonly received: number;
  readonly metrics: readonly DemoRow[];
  /** What a device pays for each metric; for Gaussian noise at δ = 10⁻⁶. */
  readonly localEpsilon: Readonly<Record<string, number>>;
  readonly seconds: number;
}

/** A service with its devices. */
export interface Demo {
  /** Where the service is, as long as the demo is open; of two servers the leader, then the helper. */
  readonly urls: readonly string[];
  readonly task: string;
  readonly devices: number;
  readonly ticks: number;
  /** Lives through one window and waits for its release. */
  runWindow(progress?: (share: number) => void): Promise<DemoResult>;
  close(): Promise<void>;
}

/** What a release tells, beside what happened; `started` is of `performance.now`. */
export function resultOf(
  { window, received, metrics }: Release,
  truths: readonly Truth[],
  { devices, started }: { readonly devices: number; readonly started: number },
): DemoResult {
  return {
    window,
    devices,
    received,
    metrics: rowsOf(metrics, truths),
    localEpsilon: Object.fromEntries(metrics.map(({ name, localEpsilon }) => [name, localEpsilon])),
    seconds: (performance.now() - started) / 1000,
  };
}

function rowsOf(metrics: Release["metrics"], truths: readonly Truth[]): DemoRow[] {
  return truths.flatMap(({ name, bucket, truth }) => {
    const metric = metrics.find((each) => each.name === name);
    const figure = metric?.statistic === "histogram" ? metric.buckets.find((each) => each.bucket === bucket) : metric;
    if (!metric || !figure) return [];
    const { estimate, standardError, interval } = figure;
    const place = { name, statistic: metric.statistic, ...(bucket !== undefined && { bucket }) };
    return [{ ...place, truth, estimate, standardError, interval }];
  });
}
