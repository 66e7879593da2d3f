import { setTimeout as sleep } from "node:timers/promises";
import { createTask, fetchManifest } from "@lethe/analyst";
import { layoutOf, type Manifest, reportBytes, type Task, windowAt } from "@lethe/core/message";
import { loadOf, readMetric, send, TASK } from "../service-load.ts";
import { type ServiceProcess, TOKEN } from "../start-service.ts";
import { quantile, startIn, withSite } from "./growth.ts";
import { type MemorySample, type MemoryTrend, residentOf, trendOf } from "./memory.ts";
import type { Quotas } from "./quota.ts";

/** What is soaked. */
export interface SoakOptions {
  readonly minutes: number;
  readonly machines: number;
  readonly databases: number;
  /** Per machine, to find out how many per second are 100%. */
  readonly devices: number;
  readonly quotas: Quotas;
  readonly note: (text: string) => void;
}

/** What a soak found. */
export interface Soak {
  /** Devices per second that the machines can do, from enrolling to counting; and how many there were. */
  readonly capacity: number;
  readonly perSecond: number;
  /** Reports that were acknowledged, and those in releases. */
  readonly acknowledged: number;
  readonly released: number;
  readonly windows: number;
  /** Milliseconds from when an upload was due to its answer: the median, and the worst p99 of twenty seconds. */
  readonly p50: number;
  readonly worstP99: number;
  readonly memory: Readonly<Record<string, MemoryTrend>>;
}

const LOAD = 0.7;
/** Windows end every two minutes, so that all that belongs to one is made, released and erased again and again. */
const SOAK_TASK: Task = { ...TASK, tickSeconds: 60, ticks: 2, graceSeconds: 60 };
const WINDOW_MS = 120_000;
/** In each slice of time some devices enrol, and those of the slice before report. The rest of it is for late answers. */
const SLICE_MS = 20_000;
const SENDING_MS = 18_000;
/** Slices begin this long after full slices of the clock: a window ends early in a slice, or not in it. */
const OFFSET_MS = 2000;
const SAMPLE_MS = 5000;
const CONNECTIONS = 256;

/** All processes work at 70% of what they can do, for some time, while their memory is watched. */
export function soak({ minutes, machines, databases, devices, quotas, note }: SoakOptions): Promise<Soak> {
  return withSite(databases, async (site) => {
    const first = await site.start("tally");
    await createTask(first.url, TOKEN, SOAK_TASK);
    const manifest = await fetchManifest(first.url, SOAK_TASK.task);
    await first.close();
    const groups = Array.from({ length: machines }, () => quotas.create());
    const started: ServiceProcess[] = [];
    const startAll = async (role: "intake" | "tally"): Promise<ServiceProcess[]> => {
      const services = await startIn(groups, () => site.start(role));
      started.push(...services);
      return services;
    };
    try {
      const intakes = await startAll("intake");
      const tallies = await startAll("tally");
      const fleet = fleetOf(manifest, intakes);
      const capacity = await capacityOf(fleet, tallies, devices * machines);
      const perSecond = LOAD * capacity;
      note(`soak: ${perSecond.toFixed(0)} devices per second, ${LOAD * 100}% of ${capacity.toFixed(0)}`);
      const watched = watchMemory(intakes, tallies, site.postgres, note);
      const latencies: number[][] = [];
      const end = Date.now() + 60_000 * minutes;
      while (Date.now() < end) latencies.push(await fleet.slice(perSecond));
      const memory = await watched.stop();
      latencies.push(await fleet.slice(0));
      const { released, windows } = await releasedBy(intakes[0] as ServiceProcess, manifest, fleet.lastWindow());
      return {
        ...{ capacity, perSecond, acknowledged: fleet.acknowledged(), released, windows, memory },
        p50: quantile(latencies.flat(), 0.5),
        worstP99: Math.max(...latencies.filter(({ length }) => length > 0).map((each) => quantile(each, 0.99))),
      };
    } finally {
      await Promise.all(started.map((service) => service.close()));
      for (const group of groups) group.remove();
    }
  });
}

/** Devices that enrol, and report in the slice of time after that. */
interface Fleet {
  /** As fast as they are answered; resolves when all have reported. */
  atOnce(devices: number): Promise<void>;
  /** Waits for the next slice, and lets devices enrol in it, and those before report; latencies of the reports. */
  slice(perSecond: number): Promise<number[]>;
  acknowledged(): number;
  lastWindow(): number;
}

function fleetOf(manifest: Manifest, intakes: readonly ServiceProcess[]): Fleet {
  const ports = intakes.map(({ port }) => port);
  const bytes = reportBytes(layoutOf(manifest));
  let before: { readonly window: number; readonly answers: readonly string[] } | undefined;
  let acknowledged = 0;
  let lastWindow = 0;
  const enrol = async (window: number, count: number, perSecond?: number) => {
    const path = `/v1/tasks/${manifest.task}/windows/${window}/devices`;
    const rate = perSecond === undefined ? {} : { perSecond };
    const { bodies } = await send({ kind: "enrolments", path, count, ports, connections: CONNECTIONS, ...rate });
    lastWindow = window;
    return { window, answers: bodies };
  };
  const report = async (enrolled: NonNullable<typeof before>, perSecond?: number): Promise<number[]> => {
    const rate = perSecond === undefined ? {} : { perSecond };
    const { latencies } = await send({ ...loadOf(enrolled, bytes), ports, connections: CONNECTIONS, ...rate });
    acknowledged += enrolled.answers.length;
    return [...latencies];
  };
  return {
    acknowledged: () => acknowledged,
    lastWindow: () => lastWindow,
    atOnce: async (devices) => {
      await report(await enrol(windowAt(manifest, Date.now() / 1000), devices));
    },
    slice: async (perSecond) => {
      await sleep(SLICE_MS - ((Date.now() - OFFSET_MS) % SLICE_MS));
      // Faster for a part of the slice, so that the mean is right.
      const rate = (perSecond * SLICE_MS) / SENDING_MS;
      const count = Math.round((rate * SENDING_MS) / 1000);
      const window = windowAt(manifest, (Date.now() + SLICE_MS) / 1000);
      const [enrolled, latencies] = await Promise.all([
        count > 0 ? enrol(window, count, rate) : undefined,
        before ? report(before, rate > 0 ? rate : undefined) : [],
      ]);
      before = enrolled;
      return latencies;
    },
  };
}

/** Devices per second, one step after another: the processes of a machine share its quota. */
async function capacityOf(fleet: Fleet, tallies: readonly ServiceProcess[], devices: number): Promise<number> {
  const untilCounted = async (): Promise<void> => {
    const counted = (): Promise<number[]> =>
      Promise.all(tallies.map(({ url }) => readMetric(url, "lethe_reports_counted_total")));
    while ((await counted()).reduce((sum, each) => sum + each, 0) < fleet.acknowledged()) await sleep(50);
  };
  // In a window that has just begun. The first ones are slower: code is compiled.
  await sleep(WINDOW_MS - (Date.now() % WINDOW_MS));
  await fleet.atOnce(Math.ceil(devices / 2));
  await untilCounted();
  const start = performance.now();
  await fleet.atOnce(devices);
  await untilCounted();
  return (1000 * devices) / (performance.now() - start);
}

function watchMemory(
  intakes: readonly ServiceProcess[],
  tallies: readonly ServiceProcess[],
  servers: readonly { readonly pid: number }[],
  note: (text: string) => void,
): { stop(): Promise<Record<string, MemoryTrend>> } {
  const services = (role: string, some: readonly ServiceProcess[]) =>
    some.map(({ pid, url }, i) => ({ name: `${role} ${i + 1}`, pid, url, kind: "node" as const }));
  const all = [
    ...services("intake", intakes),
    ...services("tally", tallies),
    ...servers.map(({ pid }, i) => ({ name: `PostgreSQL ${i + 1}`, pid, url: undefined, kind: "postgres" as const })),
  ];
  const samples = new Map<string, MemorySample[]>(all.map(({ name }) => [name, []]));
  const start = performance.now();
  let stopping = false;
  const watching = (async () => {
    for (let minute = 0; !stopping; ) {
      const seconds = (performance.now() - start) / 1000;
      for (const { name, pid, url, kind } of all) {
        const heap = url === undefined ? 0 : (await readMetric(url, "nodejs_heap_size_used_bytes")) / 1e6;
        samples.get(name)?.push({ seconds, resident: residentOf(pid, kind), heap });
      }
      if (seconds >= 60 * minute) {
        const now = all.map(({ name }) => {
          const { resident = 0, heap = 0 } = samples.get(name)?.at(-1) ?? {};
          return `${name} ${resident.toFixed(0)}${heap > 0 ? ` (heap ${heap.toFixed(0)})` : ""}`;
        });
        note(`${minute} min, MB: ${now.join(", ")}`);
        minute++;
      }
      await sleep(SAMPLE_MS);
    }
  })();
  return {
    stop: async () => {
      stopping = true;
      await watching;
      return Object.fromEntries([...samples].map(([name, each]) => [name, trendOf(each)]));
    },
  };
}

/** Waits until the last window is released; the reports in all releases. */
async function releasedBy(
  { url }: ServiceProcess,
  { task }: Manifest,
  lastWindow: number,
): Promise<{ released: number; windows: number }> {
  for (;;) {
    const answer = await fetch(`${url}/v1/tasks/${task}/releases?limit=100`);
    const { releases } = (await answer.json()) as { releases: readonly { window: number; received: number }[] };
    if (releases.some(({ window }) => window >= lastWindow)) {
      return { released: releases.reduce((sum, { received }) => sum + received, 0), windows: releases.length };
    }
    await sleep(1000);
  }
}

/** What is wrong with it; nothing if every process is flat, and every report that was acknowledged is in a release. */
export function faultsOf({ memory, acknowledged, released }: Soak): string[] {
  const growing = Object.entries(memory).filter(([, { grows }]) => grows);
  return [
    ...growing.map(([name, { first, last }]) => `${name} grew from ${first.toFixed(0)} MB to ${last.toFixed(0)} MB`),
    ...(acknowledged === released ? [] : [`${acknowledged} reports were acknowledged, ${released} are in releases`]),
  ];
}
