import type { Estimate } from "@lethe/core/estimate";
import { eventsOf, type Metric, statisticsOf, type Task } from "@lethe/core/message";
import {
  type Randomness,
  randomnessFrom,
  seededRandomnessForTests,
  withBufferedRandomness,
} from "@lethe/core/randomness";
import { limitsEvents, type Recorder, type StatisticName, type StreamEvent } from "@lethe/core/statistic";
import { twoServerLayoutOf } from "@lethe/core/two-server";
import { addUp } from "../arithmetic/add-up.ts";
import { bytesFrom } from "../randomness/bytes-from.ts";
import { expandedRandomness } from "../randomness/expanded-randomness.ts";
import { drawStream } from "./event-stream.ts";
import { oneServer, type SimulatedServers, twoServers } from "./servers.ts";
import { figureLabels, figuresFrom, shapeOf, trueAnswer } from "./true-figures.ts";

/** A fleet that takes part in a task. */
export interface TaskSimulation {
  /** If it declares groups, devices are in them in turn. */
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
  const random =
    seed === undefined ? randomnessFrom(globalThis.crypto) : expandedRandomness(seededRandomnessForTests(seed));
  const { ticks, groups = [undefined] } = task;
  const parts = partsOf(task);
  const events = eventsOf(task);
  const tallies: GroupTally[] = [];
  for (const group of groups.slice(0, devices)) tallies.push(await startTally(group, parts, random));
  progress(0);
  let valid = 0;
  for (let i = 0; i < devices; i++) {
    const stream = withBufferedRandomness(random, (coins) => drawStream({ ticks, rate, events }, coins));
    if (await countDevice(tallies[i % tallies.length] as GroupTally, stream, task, random)) valid++;
    progress((i + 1) / devices);
  }
  const counted = tallies.map(countOf);
  const each = task.groups ? counted.map((group) => figuresOf(task, group)) : [];
  const figures = [figuresOf(task, inTotal(counted)), ...each];
  const metrics = task.metrics.flatMap((metric) =>
    figures.map((found) => describe(task, metric, found.get(metric.name) as GroupFigures)),
  );
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
  task: Task,
  random: Randomness,
): Promise<boolean> {
  tally.devices++;
  const id = bytesFrom(random, 16);
  let isValid = true;
  for (const { servers, metrics, stride } of tally.parts) {
    const recorder = servers.enrol(id);
    const stored = liveThroughWindow(recorder, stream, servers.events, { ticks: task.ticks, stride });
    const sent = await servers.send(id, recorder.seal(stored));
    isValid = (await servers.receive(id, sent)) && isValid;
    for (const metric of metrics) {
      const before = tally.truth.get(metric.name);
      const answer = trueAnswer(shapeOf(task, metric), stream);
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
    recorder.reach(tick);
    for (; stream[at]?.tick === tick; at++) {
      const place = places.get((stream[at] as StreamEvent).event);
      if (place !== undefined) recorder.record(place);
    }
    if (tick % stride === stride - 1 || tick === ticks - 1) stored = recorder.write();
  }
  return stored as Uint8Array;
}

/** What was counted of some devices: of a group, or of `parts` groups together. */
interface Counted extends Pick<GroupTally, "devices" | "truth"> {
  readonly group?: string | undefined;
  readonly parts: number;
  readonly statistics: readonly {
    readonly metrics: readonly Metric[];
    readonly estimates: SimulatedServers["estimates"];
    readonly sums: readonly number[];
  }[];
}

function countOf({ group, devices, truth, parts }: GroupTally): Counted {
  const statistics = parts.map(({ metrics, servers }) => {
    return { metrics, estimates: servers.estimates, sums: servers.sums() };
  });
  return { group, devices, truth, parts: 1, statistics };
}

/** As releases make it: the sums of all groups, added up. */
function inTotal(groups: readonly Counted[]): Counted {
  const [first] = groups as readonly [Counted, ...Counted[]];
  return {
    devices: groups.reduce((sum, { devices }) => sum + devices, 0),
    parts: groups.length,
    truth: new Map(
      [...first.truth.keys()].map((name) => [name, addUp(groups.map(({ truth }) => truth.get(name) ?? []))]),
    ),
    statistics: first.statistics.map((statistic, i) => {
      const sums = groups.map(({ statistics }) => statistics[i]?.sums ?? []);
      return { ...statistic, sums: addUp(sums) };
    }),
  };
}

/** The figures of one metric, in the order of its labels. */
interface GroupFigures {
  readonly group: string | undefined;
  readonly truth: readonly number[];
  readonly estimates: readonly Estimate[];
}

/** The figures of every metric, by its name. */
function figuresOf(task: Task, { group, devices, parts, truth, statistics }: Counted): Map<string, GroupFigures> {
  return new Map(
    statistics.flatMap(({ metrics, estimates: server, sums }) => {
      const estimates = server.estimate(sums, devices, parts);
      return metrics.map((metric, i) => {
        const shape = shapeOf(task, metric);
        const own = figureLabels(shape).length > 0 ? estimates : estimates.slice(i, i + 1);
        const figures = figuresFrom(shape, truth.get(metric.name) ?? [], devices);
        return [metric.name, { group, truth: figures, estimates: own }] as const;
      });
    }),
  );
}

function describe(task: Task, metric: Metric, { group, truth, estimates }: GroupFigures): SimulatedMetric {
  const { name, statistic } = metric;
  const labels = figureLabels(shapeOf(task, metric));
  const rows = estimates.map(({ estimate, standardError, interval }, i) => {
    const bucket = labels[i];
    const label = bucket === undefined ? {} : { bucket };
    return { ...label, truth: truth[i] as number, estimate, standardError, interval };
  });
  return { name, statistic, ...(group !== undefined && { group }), rows };
}
