import { type Estimate, normalEstimate } from "@lethe/core/estimate";
import { type Metric, statisticsOf, type Task } from "@lethe/core/message";
import {
  type Randomness,
  randomnessFrom,
  seededRandomnessForTests,
  withBufferedRandomness,
} from "@lethe/core/randomness";
import { entryOf, limitsEvents, type Recorder, type StatisticName } from "@lethe/core/statistic";
import { twoServerLayoutOf } from "@lethe/core/two-server";
import { addUp } from "../arithmetic/add-up.ts";
import { bytesFrom } from "../randomness/bytes-from.ts";
import { answerToStream, drawStream, eventsOf, type StreamEvent } from "./event-stream.ts";
import { oneServer, type SimulatedServers, twoServers } from "./servers.ts";
import { figureLabels, figuresFrom } from "./true-figures.ts";

/** A fleet that takes part in a task. */
export interface TaskSimulation {
  /** If it declares `groups`, devices are in them in turn. */
  readonly task: Task;
  readonly devices: number;
  /** In each tick each device has each event with this probability. */
  readonly rate: number;
  readonly seed?: string;
}

/** A figure beside the truth. */
export interface SimulatedFigure extends Estimate {
  /** Of a statistic with categories. */
  readonly bucket?: string;
  readonly truth: number;
}

/** The figures of a metric: of all devices, or of a group. The rows of categories partition the devices. */
export interface SimulatedMetric {
  readonly name: string;
  readonly statistic: StatisticName;
  readonly group?: string;
  readonly rows: readonly SimulatedFigure[];
}

/** What came out. */
export interface SimulatedTask {
  readonly task: string;
  readonly devices: number;
  readonly ticks: number;
  readonly rate: number;
  /** Devices of which all reports were valid. */
  readonly valid: number;
  /** In the task's order; of each metric first all devices, then the groups. */
  readonly metrics: readonly SimulatedMetric[];
}

/**
 * Runs a fleet of devices through one window of a task, with its servers in this process: real keys of every device,
 * the real state machines, reports and estimates. It leaves out the network, the disk, and most writes: a device
 * whose ciphertexts have room for any number of events writes in four ticks only, as if it were off in the others. No
 * figure depends on that.
 */
export async function simulateTask(
  { task, devices, rate, seed }: TaskSimulation,
  progress: (share: number) => void = () => {},
): Promise<SimulatedTask> {
  const random = seed === undefined ? randomnessFrom(globalThis.crypto) : seededRandomnessForTests(seed);
  const { ticks, groups = [undefined] } = task;
  const parts = partsOf(task);
  const events = [...new Set(parts.flatMap(({ metrics }) => eventsOf(metrics)))];
  const tallies: GroupTally[] = [];
  for (const group of groups.slice(0, devices)) tallies.push(await startTally(group, parts, random));
  progress(0);
  let valid = 0;
  for (let i = 0; i < devices; i++) {
    const stream = withBufferedRandomness(random, (coins) => drawStream({ ticks, rate, events }, coins));
    if (await countDevice(tallies[i % tallies.length] as GroupTally, stream, task, random)) valid++;
    progress((i + 1) / devices);
  }
  const figures = tallies.map(figuresOf);
  const metrics = task.metrics.flatMap((metric) => {
    const own = figures.map((found) => found.get(metric.name) as GroupFigures);
    const perGroup = task.groups ? own : [];
    return [inTotal(metric, own), ...perGroup].map((each) => describe(metric, each));
  });
  return { task: task.task, devices, ticks, rate, valid, metrics };
}

/** A statistic of the task: metrics that run together. */
interface Part {
  readonly metrics: readonly Metric[];
  /** The number of ticks from one write to the next. */
  readonly stride: number;
  start(random: Randomness): Promise<SimulatedServers>;
}

const WRITES = 4;

function partsOf(task: Task): Part[] {
  const named = new Map(task.metrics.map((metric) => [metric.name, metric]));
  const metricsOf = (names: readonly string[]): Metric[] => names.map((name) => named.get(name) as Metric);
  const seldom = Math.ceil(task.ticks / WRITES);
  if (task.mode === "two-server") {
    return twoServerLayoutOf(task).map(({ spec, metrics }) => ({
      metrics: metricsOf(metrics),
      stride: seldom,
      start: (random) => twoServers(spec, random),
    }));
  }
  return statisticsOf(task).map(({ scheme, spec, metrics }) => ({
    metrics: metricsOf(metrics),
    stride: limitsEvents(scheme, spec.statistic) ? 1 : seldom,
    start: async (random) => oneServer(scheme, spec, random),
  }));
}

/** What is known of the devices of a group, or of all if there are no groups. */
interface GroupTally {
  readonly group: string | undefined;
  devices: number;
  readonly parts: readonly (Part & { readonly servers: SimulatedServers })[];
  /** The sums of true answers, by metric. */
  readonly truth: Map<string, readonly number[]>;
}

async function startTally(group: string | undefined, parts: readonly Part[], random: Randomness): Promise<GroupTally> {
  const started: GroupTally["parts"][number][] = [];
  for (const part of parts) started.push({ ...part, servers: await part.start(random) });
  return { group, devices: 0, parts: started, truth: new Map() };
}

/** Lets a device live through the window and report; whether all of its report was valid. */
async function countDevice(
  tally: GroupTally,
  stream: readonly StreamEvent[],
  { ticks }: Task,
  random: Randomness,
): Promise<boolean> {
  tally.devices++;
  const id = bytesFrom(random, 16);
  let isValid = true;
  for (const { servers, metrics, stride } of tally.parts) {
    const recorder = servers.enrol(id);
    const stored = liveThroughWindow(recorder, stream, eventsOf(metrics), { ticks, stride });
    const sent = await servers.send(id, recorder.seal(stored));
    isValid = (await servers.receive(id, sent)) && isValid;
    for (const metric of metrics) {
      const before = tally.truth.get(metric.name);
      const answer = answerToStream(metric, stream);
      tally.truth.set(metric.name, before ? addUp([before, answer]) : answer);
    }
  }
  return isValid;
}

/** Records a stream, and writes at the end of every stride and of the window; returns what was stored last. */
function liveThroughWindow(
  recorder: Recorder,
  stream: readonly StreamEvent[],
  events: readonly string[],
  { ticks, stride }: { readonly ticks: number; readonly stride: number },
): Uint8Array {
  const places = new Map(events.map((event, i) => [event, i]));
  let at = 0;
  let stored: Uint8Array | undefined;
  for (let tick = 0; tick < ticks; tick++) {
    for (; stream[at]?.tick === tick; at++) {
      const place = places.get((stream[at] as StreamEvent).event);
      if (place !== undefined) recorder.record(place);
    }
    if (tick % stride === stride - 1 || tick === ticks - 1) stored = recorder.write();
  }
  return stored as Uint8Array;
}

/** The figures of one metric in one group, in the order of its labels. */
interface GroupFigures {
  readonly group?: string | undefined;
  readonly devices: number;
  readonly truth: readonly number[];
  readonly estimates: readonly Estimate[];
}

/** The figures of every metric of a group, by its name. */
function figuresOf({ group, devices, parts, truth }: GroupTally): Map<string, GroupFigures> {
  return new Map(
    parts.flatMap(({ metrics, servers }) => {
      const estimates = servers.estimates.estimate(servers.sums(), devices);
      return metrics.map((metric, i) => {
        const own = figureLabels(metric).length > 0 ? estimates : estimates.slice(i, i + 1);
        const figures = figuresFrom(metric, truth.get(metric.name) ?? [], devices);
        return [metric.name, { group, devices, truth: figures, estimates: own }] as const;
      });
    }),
  );
}

/** Groups have different devices, and so independent noise: counts add up, averages weigh by devices. */
function inTotal(metric: Metric, groups: readonly GroupFigures[]): GroupFigures {
  const [only, ...others] = groups as [GroupFigures, ...GroupFigures[]];
  if (others.length === 0) return { ...only, group: undefined };
  const devices = groups.reduce((sum, group) => sum + group.devices, 0);
  const isAverage = entryOf(metric.statistic).answers.output === "average";
  const shareOf = (group: GroupFigures): number => (isAverage ? group.devices / devices : 1);
  const total = (figure: (group: GroupFigures) => number): number =>
    groups.reduce((sum, group) => sum + figure(group), 0);
  return {
    devices,
    truth: only.truth.map((_, i) => total((group) => shareOf(group) * (group.truth[i] as number))),
    estimates: only.estimates.map((_, i) => {
      const at = (group: GroupFigures): Estimate => group.estimates[i] as Estimate;
      const variance = total((group) => (shareOf(group) * at(group).standardError) ** 2);
      return normalEstimate(
        total((group) => shareOf(group) * at(group).estimate),
        Math.sqrt(variance),
      );
    }),
  };
}

function describe(metric: Metric, { group, truth, estimates }: GroupFigures): SimulatedMetric {
  const { name, statistic } = metric;
  const labels = figureLabels(metric);
  const rows = estimates.map(({ estimate, standardError, interval }, i) => {
    const bucket = labels[i];
    const label = bucket === undefined ? {} : { bucket };
    return { ...label, truth: truth[i] as number, estimate, standardError, interval };
  });
  return { name, statistic, ...(group !== undefined && { group }), rows };
}
