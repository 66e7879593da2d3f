import type { Truth } from "@lethe/analyst";
import { figuresOf, type Release, type Task } from "@lethe/core/message";

/** One figure, of a metric or of one of its buckets: what happened, and what was released. */
export interface DemoRow {
  readonly name: string;
  readonly statistic: Task["metrics"][number]["statistic"];
  /** The bucket of a histogram: "0", "2–4", "5+". */
  readonly bucket?: string;
  readonly truth: number;
  readonly estimate: number;
  readonly standardError: number;
  readonly interval: readonly [number, number];
}

/** One window of a demonstration. */
export interface DemoResult {
  readonly window: number;
  readonly devices: number;
  readonly received: number;
  readonly metrics: readonly DemoRow[];
  /** The ε that each metric costs a device; for Gaussian noise, at δ = 10⁻⁶. */
  readonly localEpsilon: Readonly<Record<string, number>>;
  readonly seconds: number;
}

/** A running service and its devices. */
export interface Demo {
  /** The address of the service while the demo is open; with two servers, the leader's, then the helper's. */
  readonly urls: readonly string[];
  /** Of the first of them. */
  readonly adminToken: string;
  readonly task: string;
  readonly devices: number;
  readonly ticks: number;
  /** Runs all devices through one window and waits for its release. */
  runWindow(progress?: (share: number) => void): Promise<DemoResult>;
  /** Ends the service and removes what it stored. */
  close(): Promise<void>;
}

/** Puts a release beside what happened; `started` is a time of `performance.now`. */
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
    const figure = metric && figuresOf(metric).find(({ label }) => label === bucket)?.figure;
    if (!metric || !figure) return [];
    const { estimate, standardError, interval } = figure;
    const place = { name, statistic: metric.statistic, ...(bucket !== undefined && { bucket }) };
    return [{ ...place, truth, estimate, standardError, interval }];
  });
}
