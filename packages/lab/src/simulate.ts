import { type DeviceKeyContext, secret } from "@lethe/core/encryption";
import { sigmaFor } from "@lethe/core/privacy";
import {
  type Randomness,
  randomnessFrom,
  seededRandomnessForTests,
  uniformBelow,
  withBufferedRandomness,
} from "@lethe/core/randomness";
import {
  bucketOf,
  createStatistic,
  type HistogramMechanismName,
  MEAN_DELTA,
  type Recorder,
  type SchemeName,
  type Statistic,
  type StatisticBytes,
  type StatisticSpec,
} from "@lethe/core/statistic";

export interface SimulationOptions {
  readonly statistic: StatisticSpec["statistic"];
  readonly scheme: SchemeName;
  readonly devices: number;
  readonly ticks: number;
  /** In each tick each device has one event per metric with this probability. */
  readonly rate: number;
  readonly localEpsilon: number;
  readonly metrics: number;
  readonly edges: readonly number[];
  readonly mechanism?: HistogramMechanismName;
  readonly limit: number;
  /** For a mean: taken from localEpsilon, at δ = 10⁻⁶, if absent. */
  readonly sigma?: number;
  readonly seed?: string;
}

/** One entry per metric, per bucket, or one. */
export interface SimulationResult {
  readonly statistic: StatisticSpec["statistic"];
  readonly scheme: SchemeName;
  readonly mechanism: string;
  readonly devices: number;
  readonly valid: number;
  readonly rejected: number;
  readonly truth: readonly number[];
  readonly estimate: readonly number[];
  readonly consistent: readonly number[];
  readonly standardError: readonly number[];
  readonly interval: readonly (readonly [number, number])[];
  readonly localEpsilon: number;
  readonly bytes: StatisticBytes;
  /** Medians per call. */
  readonly microseconds: {
    readonly record: number;
    readonly write: number;
    readonly seal: number;
    readonly open: number;
  };
}

/**
 * A fleet of devices and their server in one process: real keys, the real state machines, a write in every tick, real
 * reports, opened with the derived keys. Nothing is left out but the network and the disk.
 */
export function simulate(options: SimulationOptions, progress: (share: number) => void = () => {}): SimulationResult {
  const spec = specOf(options);
  const { device, server } = createStatistic(options.scheme, spec);
  const random =
    options.seed === undefined ? randomnessFrom(globalThis.crypto) : seededRandomnessForTests(options.seed);
  const master = secret(bytesFrom(random, 32));
  const stopwatch = createStopwatch();

  progress(0);
  let valid = 0;
  let truth: number[] | undefined;
  let sums: number[] | undefined;
  for (let i = 0; i < options.devices; i++) {
    const context: DeviceKeyContext = {
      task: "simulation",
      window: 0,
      device: bytesFrom(random, 16),
      role: "tally",
      index: 0,
    };
    const { counts, report } = liveThroughWindow(
      options,
      device.start(server.issueKey(master, context), random),
      random,
      stopwatch,
    );
    const opened = stopwatch.time("open", () => server.open(master, context, report, random));
    if (opened.valid) valid++;
    truth = addTo(truth, trueAnswers(spec, counts));
    sums = addTo(sums, opened.answers);
    progress((i + 1) / options.devices);
  }
  return summarize(options, { device, server }, valid, truth ?? [], sums ?? [], stopwatch.medians());
}

function specOf({
  statistic,
  ticks,
  localEpsilon,
  metrics,
  edges,
  mechanism,
  limit,
  sigma,
}: SimulationOptions): StatisticSpec {
  if (statistic === "occurrence") {
    return { statistic, ticks, localEpsilons: new Array<number>(metrics).fill(localEpsilon) };
  }
  if (statistic === "histogram") {
    return { statistic, ticks, eventsPerTick: 1, edges, localEpsilon, ...(mechanism && { mechanism }) };
  }
  return { statistic, ticks, eventsPerTick: 1, limit, sigma: sigma ?? sigmaFor(localEpsilon, MEAN_DELTA, limit) };
}

/** Ticks with events and writes, then the seal. */
function liveThroughWindow(
  { ticks, metrics, rate }: SimulationOptions,
  recorder: Recorder,
  random: Randomness,
  stopwatch: Stopwatch,
): { counts: number[]; report: Uint8Array } {
  const RESOLUTION = 2 ** 32;
  const counts = new Array<number>(metrics).fill(0);
  let stored: Uint8Array | undefined;
  withBufferedRandomness(random, (events) => {
    for (let tick = 0; tick < ticks; tick++) {
      for (let metric = 0; metric < metrics; metric++) {
        if (uniformBelow(events, RESOLUTION) >= rate * RESOLUTION) continue;
        counts[metric] = (counts[metric] as number) + 1;
        stopwatch.time("record", () => recorder.record(metric));
      }
      stored = stopwatch.time("write", () => recorder.write());
    }
  });
  const report = stopwatch.time("seal", () => recorder.seal(stored as Uint8Array));
  return { counts, report };
}

/** What this device adds to the truth. */
function trueAnswers(spec: StatisticSpec, counts: readonly number[]): number[] {
  const [count] = counts as [number];
  if (spec.statistic === "occurrence") return counts.map((events) => Math.min(events, 1));
  if (spec.statistic === "mean") return [Math.min(count, spec.limit)];
  return spec.edges.map((_, bucket) => Number(bucket === bucketOf(spec.edges, count)));
}

function summarize(
  options: SimulationOptions,
  { device, server }: Statistic,
  valid: number,
  truth: readonly number[],
  sums: readonly number[],
  microseconds: SimulationResult["microseconds"],
): SimulationResult {
  const { statistic, scheme, devices } = options;
  const estimates = server.estimate(sums, devices);
  const raw = estimates.map(({ estimate }) => estimate);
  return {
    statistic,
    scheme,
    mechanism: server.mechanism,
    devices,
    valid,
    rejected: devices - valid,
    truth: statistic === "mean" ? truth.map((sum) => sum / devices) : truth,
    estimate: raw,
    consistent: server.consistent(raw, devices),
    standardError: estimates.map(({ standardError }) => standardError),
    interval: estimates.map(({ interval }) => interval),
    localEpsilon: server.localEpsilon(),
    bytes: device.bytes,
    microseconds,
  };
}

function addTo(sums: number[] | undefined, values: readonly number[]): number[] {
  return values.map((value, i) => value + (sums?.[i] ?? 0));
}

function bytesFrom(random: Randomness, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  random(bytes);
  return bytes;
}

type Call = keyof SimulationResult["microseconds"];
interface Stopwatch {
  time<T>(call: Call, task: () => T): T;
  medians(): SimulationResult["microseconds"];
}

function createStopwatch(): Stopwatch {
  const SAMPLES = 10_000;
  const times: Record<Call, number[]> = { record: [], write: [], seal: [], open: [] };
  const median = (samples: number[]): number => samples.sort((a, b) => a - b)[Math.floor(samples.length / 2)] ?? 0;
  return {
    time: (call, task) => {
      const start = performance.now();
      const result = task();
      if (times[call].length < SAMPLES) times[call].push(1000 * (performance.now() - start));
      return result;
    },
    medians: () => ({
      record: median(times.record),
      write: median(times.write),
      seal: median(times.seal),
      open: median(times.open),
    }),
  };
}
