/**
 * The simulator: a fleet and its servers in one process, without network and disk. `simulate.ts` runs a window of one
 * statistic and compares the estimates with the truth, `simulate-task.ts` a window of a whole task, `servers.ts` is one
 * server or two with their keys, which most experiments use as well, and `cost.ts` times a device. Imports core, `randomness` and `arithmetic`. Start with `simulate` below.
 */
import { serverNoiseSigma } from "@lethe/core/privacy";
import {
  type Randomness,
  randomnessFrom,
  seededRandomnessForTests,
  uniformBelow,
  withBufferedRandomness,
} from "@lethe/core/randomness";
import {
  type EventStream,
  entryOf,
  type HistogramMechanismName,
  isJoint,
  MEAN_DELTA,
  type Recorder,
  type SchemeName,
  type StatisticBytes,
  type StatisticSpec,
  type StreamEvent,
  twoServerRunOf,
} from "@lethe/core/statistic";
import type { NoiseSource, TwoServerSpec } from "@lethe/core/two-server";
import { addUp } from "../arithmetic/add-up.ts";
import { bytesFrom } from "../randomness/bytes-from.ts";
import { expandedRandomness } from "../randomness/expanded-randomness.ts";
import { oneServer, type SimulatedServers, twoServers } from "./servers.ts";
import { createStopwatch, type Microseconds, type Stopwatch } from "./stopwatch.ts";
import { figuresFrom, trueAnswer } from "./true-figures.ts";

/** The fleet, what it counts, and with how much noise. */
export interface SimulationOptions {
  readonly statistic: StatisticSpec["statistic"];
  /** One server if absent. */
  readonly mode?: "one-server" | "two-server";
  /** With two servers: who adds the noise. If absent, the servers for a mean, the devices for all else. */
  readonly noise?: NoiseSource;
  /** With one server. Two servers use ElGamal. */
  readonly scheme: SchemeName;
  readonly devices: number;
  readonly ticks: number;
  /** How many writes the window allows besides those of ticks; the devices here make none of these. 0 if absent. */
  readonly hides?: number;
  /** For lattice histograms and means: how many events between two writes are counted. 1 if absent. */
  readonly eventsPerTick?: number;
  /** In each tick each device has one event per metric with this probability. */
  readonly rate: number;
  readonly localEpsilon: number;
  readonly metrics: number;
  readonly edges: readonly number[];
  readonly mechanism?: HistogramMechanismName;
  readonly limit: number;
  /** For a mean, and for noise of the servers. If absent, computed from localEpsilon at δ = 10⁻⁶. */
  readonly sigma?: number;
  readonly seed?: string;
}

/** What came out. Arrays have one entry per metric or per bucket; for a mean, one. */
export interface SimulationResult {
  readonly statistic: StatisticSpec["statistic"];
  /** Present with two servers. */
  readonly mode?: "two-server";
  readonly noise?: NoiseSource;
  readonly scheme: SchemeName;
  readonly mechanism: string;
  readonly devices: number;
  /** Present if it was given. */
  readonly hides?: number;
  readonly eventsPerTick?: number;
  readonly valid: number;
  readonly rejected: number;
  readonly truth: readonly number[];
  readonly estimate: readonly number[];
  readonly consistent: readonly number[];
  readonly standardError: readonly number[];
  readonly interval: readonly (readonly [number, number])[];
  readonly localEpsilon: number;
  /** The report as it is uploaded, header included. */
  readonly bytes: StatisticBytes;
  /** Medians per call; opening is what all servers do for a report. */
  readonly microseconds: Microseconds;
}

/**
 * Runs a fleet of devices and their servers in one process: real keys, the real state machines, a write in every tick,
 * real reports, opened with the derived keys. Only the network and the disk are left out.
 */
export async function simulate(
  options: SimulationOptions,
  progress: (share: number) => void = () => {},
): Promise<SimulationResult> {
  // Expanded, so that devices with a seed are as fast as real ones.
  const random =
    options.seed === undefined
      ? randomnessFrom(globalThis.crypto)
      : expandedRandomness(seededRandomnessForTests(options.seed));
  const spec = options.mode === "two-server" ? twoServerSpecOf(options) : specOf(options);
  const servers = "noise" in spec ? await twoServers(spec, random) : oneServer(options.scheme, spec, random);
  const stopwatch = createStopwatch();

  progress(0);
  let valid = 0;
  let truth: number[] | undefined;
  for (let i = 0; i < options.devices; i++) {
    const device = bytesFrom(random, 16);
    const recorder = servers.enrol(device);
    const { streams, stored } = liveThroughWindow(options, recorder, random, stopwatch);
    const sent = await stopwatch.timeAsync("seal", () => servers.send(device, recorder.seal(stored)));
    const isValid = await stopwatch.timeAsync("open", () => servers.receive(device, sent));
    if (isValid) valid++;
    const answers = trueAnswers(options, streams);
    truth = truth ? addUp([truth, answers]) : answers;
    progress((i + 1) / options.devices);
  }
  const result = summarize(options, servers, valid, truth ?? [], stopwatch.medians());
  return "noise" in spec ? { ...result, mode: "two-server", scheme: "elgamal", noise: spec.noise } : result;
}

/** What a device runs that adds its own noise. */
function specOf(options: SimulationOptions): StatisticSpec {
  return entryOf(options.statistic).run.specOf(settingsOf(options), options);
}

/** No page hides and one event per tick, if the options do not say otherwise. */
function settingsOf(options: SimulationOptions): SimulationOptions {
  return { ...options, hides: options.hides ?? 0, eventsPerTick: options.eventsPerTick ?? 1 };
}

function twoServerSpecOf(options: SimulationOptions): TwoServerSpec {
  const { statistic, localEpsilon } = options;
  const run = twoServerRunOf(statistic);
  const noise = options.noise ?? run.noise[0];
  if (!run.noise.includes(noise)) {
    throw new RangeError(`a ${statistic} of two servers has its noise at the ${run.noise.join(" or ")}`);
  }
  if (noise === "device") return { ...specOf(options), noise } as TwoServerSpec;
  const sigma = options.sigma ?? serverNoiseSigma(run.exposure(options), localEpsilon, MEAN_DELTA);
  return run.serverNoiseSpecOf(settingsOf(options), sigma);
}

/** Lets one device record its events and write in every tick; returns the events of each metric and what it stored last. */
function liveThroughWindow(
  { ticks, metrics, rate }: SimulationOptions,
  recorder: Recorder,
  random: Randomness,
  stopwatch: Stopwatch,
): { streams: StreamEvent[][]; stored: Uint8Array } {
  const RESOLUTION = 2 ** 32;
  const streams = Array.from({ length: metrics }, (): StreamEvent[] => []);
  let stored: Uint8Array | undefined;
  withBufferedRandomness(random, (events) => {
    for (let tick = 0; tick < ticks; tick++) {
      for (let metric = 0; metric < metrics; metric++) {
        if (uniformBelow(events, RESOLUTION) >= rate * RESOLUTION) continue;
        streams[metric]?.push({ tick, event: `${metric}` });
        stopwatch.time("record", () => recorder.record(metric));
      }
      stored = stopwatch.time("write", () => recorder.write());
    }
  });
  return { streams, stored: stored as Uint8Array };
}

/** What this device adds to the truth. */
function trueAnswers(options: SimulationOptions, streams: readonly EventStream[]): number[] {
  const metrics = isJoint(options.statistic) ? streams : streams.slice(0, 1);
  return metrics.flatMap((stream) => trueAnswer(options, stream));
}

function summarize(
  options: SimulationOptions,
  { estimates: server, bytes, sums }: SimulatedServers,
  valid: number,
  truth: readonly number[],
  microseconds: Microseconds,
): SimulationResult {
  const { statistic, scheme, devices, hides, eventsPerTick } = options;
  const estimates = server.estimate(sums(), devices);
  const raw = estimates.map(({ estimate }) => estimate);
  return {
    statistic,
    scheme,
    mechanism: server.mechanism,
    devices,
    ...(hides !== undefined && { hides }),
    ...(eventsPerTick !== undefined && { eventsPerTick }),
    valid,
    rejected: devices - valid,
    truth: figuresFrom(options, truth, devices),
    estimate: raw,
    consistent: server.consistent(raw, devices),
    standardError: estimates.map(({ standardError }) => standardError),
    interval: estimates.map(({ interval }) => interval),
    localEpsilon: server.localEpsilon(),
    bytes,
    microseconds,
  };
}
