import type { Randomness } from "@lethe/core/randomness";
import type { EventStream, Recorder, StatisticSpec } from "@lethe/core/statistic";
import type { TwoServerSpec } from "@lethe/core/two-server";
import { bytesFrom } from "../randomness/bytes-from.ts";
import { oneServer, type SimulatedServers, twoServers } from "../simulate/servers.ts";
import { trueFigures } from "../simulate/true-figures.ts";
import { EVENTS_PER_TICK, TICKS, type UtilityCase } from "./cases.ts";
import { type Errors, statedAt } from "./errors.ts";

/** How many events devices have, in turn: none, one, several, and more than any limit. */
export const COUNTS: readonly number[] = [0, 1, 0, 2, 5, 1, 0, 3];

/** What came out of a case. */
export interface CaseResult {
  readonly mechanism: string;
  readonly localEpsilon: number;
  readonly errors: Errors;
}

/**
 * Runs windows of real devices: keys, events, a write in each tick, sealed reports, opened and counted by one server or
 * two.
 */
export async function runCase(
  { spec, devices, windows, metrics }: UtilityCase,
  random: Randomness,
  step: () => void = () => {},
): Promise<CaseResult> {
  const truth = truthOf("one" in spec ? spec.one : spec.two, devices, metrics);
  const open = windowsOf(spec, random);
  const runs: number[][] = [];
  for (let window = 0; window < windows; window++) {
    const servers = await open();
    await runWindow(servers, devices, metrics, random);
    const estimates = servers.estimates.estimate(servers.sums(), devices);
    const errors = estimates.map(({ estimate }, i) => estimate - (truth[i] as number));
    runs.push(...splitRuns(errors, metrics));
    step();
  }
  const { estimates } = await open();
  const stated = statedAt(estimates, truth, devices).slice(0, truth.length / metrics);
  return {
    mechanism: estimates.mechanism,
    localEpsilon: estimates.localEpsilon(),
    errors: { runs, stated, independent: stated.length - Number(estimates.mechanism === "kary") },
  };
}

/**
 * Servers for each window. Setting up one server takes longer than a window, so it is kept, and its earlier sums are
 * subtracted.
 */
function windowsOf(spec: UtilityCase["spec"], random: Randomness): () => Promise<SimulatedServers> {
  if ("two" in spec) return () => twoServers(spec.two, random);
  const server = oneServer(spec.scheme, spec.one, random);
  return async () => {
    const before = server.sums();
    return { ...server, sums: () => server.sums().map((sum, i) => sum - (before[i] ?? 0)) };
  };
}

/** Each metric is an independent run; the answers of one statistic belong together. */
function splitRuns(errors: readonly number[], metrics: number): number[][] {
  return metrics === 1 ? [[...errors]] : errors.map((error) => [error]);
}

async function runWindow(
  servers: SimulatedServers,
  devices: number,
  metrics: number,
  random: Randomness,
): Promise<void> {
  for (let i = 0; i < devices; i++) {
    const id = bytesFrom(random, 16);
    const recorder = servers.enrol(id);
    const stored = liveThrough(recorder, i, metrics);
    const sent = await servers.send(id, recorder.seal(stored));
    if (!(await servers.receive(id, sent))) throw new Error("an honest report was invalid");
  }
}

function liveThrough(recorder: Recorder, device: number, metrics: number): Uint8Array {
  let stored: Uint8Array | undefined;
  for (let tick = 0; tick < TICKS; tick++) {
    for (let metric = 0; metric < metrics; metric++) {
      const left = countOf(device, metric) - tick * EVENTS_PER_TICK;
      for (let event = 0; event < Math.min(left, EVENTS_PER_TICK); event++) recorder.record(metric);
    }
    stored = recorder.write();
  }
  return stored as Uint8Array;
}

function countOf(device: number, metric: number): number {
  return COUNTS[(device + metric) % COUNTS.length] as number;
}

/** The true figures of a window: a count for each metric or bucket, or a mean. */
function truthOf(spec: StatisticSpec | TwoServerSpec, devices: number, metrics: number): number[] {
  const streams = (metric: number): EventStream[] =>
    Array.from({ length: devices }, (_, device) =>
      Array.from({ length: countOf(device, metric) }, () => ({ tick: 0, event: `${metric}` })),
    );
  return Array.from({ length: metrics }, (_, metric) => trueFigures(spec, streams(metric))).flat();
}
