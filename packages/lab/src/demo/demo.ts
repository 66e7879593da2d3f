/**
 * The demonstration behind `lethe demo`: a service and devices with the SDK, over HTTP, and what happened beside what
 * was released. `demo.ts` runs one server in this process, `two-servers.ts` runs a leader and a helper as processes,
 * `record.ts` keeps what both tell the console while windows run, `result.ts` is what both return. Imports core, the SDK, the service, the analyst's client, `fleet`, `parallel` and
 * `processes`.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createTask, fetchRelease, fetchWindow } from "@lethe/analyst";
import type { LetheError } from "@lethe/core/error";
import { beginningOf, nextTick, type Release, type Task, windowAt } from "@lethe/core/message";
import type { EventStream, StreamEvent } from "@lethe/core/statistic";
import { type Lethe, openLethe } from "@lethe/device";
import { openService, type Service } from "@lethe/server";
import { pino } from "pino";
import { happens } from "../fleet/fleet.ts";
import { truthOf } from "../fleet/truth.ts";
import { inParallel } from "../parallel/in-parallel.ts";
import { createRecord, type DemoRecord } from "./record.ts";
import { type Demo, type DemoResult, resultOf } from "./result.ts";

export type { Demo, DemoResult, DemoRow } from "./result.ts";
export { openTwoServerDemo, type TwoServerDemoOptions } from "./two-servers.ts";

const DEVICES = 200;
const MINIMUM_DEVICES = 100;
/**
 * Schemes and page hides are the defaults of a task. With ElGamal a write takes about 20 ms, so ticks are few and long.
 */
const TASK: Task = {
  version: 1,
  task: "editor-health",
  tickSeconds: 1200,
  ticks: 6,
  // Less than a tick: the next window then has all of its ticks.
  graceSeconds: 600,
  mode: "one-server",
  minimumDevices: MINIMUM_DEVICES,
  metrics: [
    { name: "export.failed", statistic: "occurrence", localEpsilon: 1 },
    { name: "export.clicks", statistic: "histogram", edges: [0, 1, 2, 5], localEpsilon: 1 },
    { name: "tabs.opened", statistic: "mean", limit: 10, sigma: 2 },
  ],
};
/** How many times per tick an event may happen. */
const CHANCES = 4;
/** The probability of an event each time. */
const RATES: Readonly<Record<string, number>> = { "export.failed": 0.02, "export.clicks": 0.08, "tabs.opened": 0.2 };
const AT_ONCE = 16;
const MOST_WAIT_MS = 60_000;
const HOST = "127.0.0.1";

/** How a demonstration with one server runs. */
export interface DemoOptions {
  readonly devices?: number;
  /** The port of the service; 0 takes any free port. */
  readonly port: number;
  /** The files of the console, which the service delivers. */
  readonly console: ReadonlyMap<string, Uint8Array>;
}

/**
 * Starts the service with the embedded database. Each window runs a few hundred devices, each with the SDK, over HTTP,
 * by a simulated clock. The service's console shows what happens on the devices, too. Rejects with the system's error if
 * the port is not available.
 */
export async function openDemo({ devices = DEVICES, port, console }: DemoOptions): Promise<Demo> {
  const folder = mkdtempSync(join(tmpdir(), "lethe-demo-"));
  // The first whole window from now on.
  const time = { now: 1000 * beginningOf(TASK, windowAt(TASK, Date.now() / 1000) + 1) };
  const { task, ticks } = TASK;
  const record = createRecord({ task, devices, ticks });
  const adminToken = crypto.randomUUID();
  const fleet: Lethe[] = [];
  let service: Service | undefined;
  const close = async (): Promise<void> => {
    await Promise.all(fleet.map((lethe) => lethe.close()));
    await service?.close();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    service = await openService({
      data: join(folder, "data"),
      keyFile: join(folder, "keys"),
      adminToken,
      host: HOST,
      port,
      log: pino({ level: "silent" }),
      clock: () => time.now,
      enrolment: { rate: { perSecond: 1e6, burst: 1e6 } },
      console,
      demonstration: record.current,
    });
    await createTask(service.url, adminToken, { ...TASK, minimumDevices: Math.min(devices, MINIMUM_DEVICES) });
    const parts: Parts = { service, time, fleet, devices, record, problems: [] };
    return {
      urls: [service.url],
      ...{ adminToken, task, devices, ticks },
      runWindow: (progress) => runWindow(parts, progress),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A running demonstration. */
interface Parts {
  readonly service: Service;
  /** The time of the service and of all devices, in Unix milliseconds. */
  readonly time: { now: number };
  /** All devices, once the first window has begun. */
  readonly fleet: Lethe[];
  readonly devices: number;
  readonly record: DemoRecord;
  readonly problems: LetheError[];
}

const windowNow = ({ time }: Parts): number => windowAt(TASK, time.now / 1000);

async function runWindow(parts: Parts, progress: (share: number) => void = () => {}): Promise<DemoResult> {
  const { service, time, fleet, devices, record } = parts;
  const started = performance.now();
  const steps = devices + TASK.ticks;
  tell(parts, windowNow(parts), []);
  for (let i = fleet.length; i < devices; i++) {
    fleet.push(await openDevice(parts));
    progress(i / steps);
  }
  await allCount(parts);
  const window = windowNow(parts);
  const streams = fleet.map((): StreamEvent[] => []);
  while (windowNow(parts) === window) {
    recordEvents(fleet, streams, ticksOver(parts, window));
    time.now = 1000 * nextTick(TASK, time.now / 1000);
    tell(parts, window, streams);
    await allDo(parts);
    progress((devices + ticksOver(parts, window)) / steps);
  }
  const truth = truthOf(TASK, streams);
  record.addTruth(window, truth);
  await allReported(service, window, devices, () => tryAgain(parts));
  time.now += 1000 * TASK.graceSeconds;
  const release = await releaseOf(service, window);
  return resultOf(release, truth, { devices, started });
}

function openDevice({ service: { url: server, operatorKey = "" }, time, problems }: Parts): Promise<Lethe> {
  const options = { server, task: TASK.task, operatorKey, clock: () => time.now };
  return openLethe({ ...options, onProblem: (problem) => problems.push(problem) });
}

/** Lets every device do what is due. */
async function allDo({ fleet }: Parts): Promise<void> {
  await inParallel(fleet.length, (i) => (fleet[i] as Lethe).sendPending(), AT_ONCE);
}

/** Devices wait for some time, by their clocks, before they repeat a request. */
async function tryAgain(parts: Parts): Promise<void> {
  await sleep(100);
  parts.time.now += 2000;
  await allDo(parts);
}

/** Waits until all devices have enrolled and count; the service makes keys as fast as it can. */
async function allCount(parts: Parts): Promise<void> {
  const since = Date.now();
  while (parts.fleet.some((lethe) => lethe.inspect().memory.length === 0)) {
    if (Date.now() - since > MOST_WAIT_MS) throw parts.problems.at(-1) ?? new Error("the devices cannot enrol");
    await tryAgain(parts);
  }
}

/** How many ticks of a window are over. */
function ticksOver({ time }: Parts, window: number): number {
  return Math.min(TASK.ticks, Math.floor((time.now / 1000 - beginningOf(TASK, window)) / TASK.tickSeconds));
}

/** Tells the console how far the window is, and how often each event has happened in it. */
function tell(parts: Parts, window: number, streams: readonly EventStream[]): void {
  const events = Object.fromEntries(TASK.metrics.map(({ name }) => [name, 0]));
  for (const { event } of streams.flat()) events[event] = (events[event] ?? 0) + 1;
  parts.record.watch({ window, tick: ticksOver(parts, window), events });
}

/** Lets events happen on every device, and adds them to its stream. */
function recordEvents(fleet: readonly Lethe[], streams: readonly StreamEvent[][], tick: number): void {
  for (const [i, lethe] of fleet.entries()) {
    for (const { name } of TASK.metrics) {
      const events = Array.from({ length: CHANCES }, () => happens(RATES[name] ?? 0)).filter(Boolean).length;
      if (events > 0) lethe.record(name, events);
      for (let event = 0; event < events; event++) streams[i]?.push({ tick, event: name });
    }
  }
}

/** Waits until all devices have reported. `again` repeats requests that a busy machine did not answer in time. */
async function allReported(
  { url }: Service,
  window: number,
  devices: number,
  again: () => Promise<void>,
): Promise<void> {
  for (let tries = 0; tries < MOST_WAIT_MS / 100; tries++) {
    const { received } = await fetchWindow(url, TASK.task, window);
    if (received >= devices) return;
    await again();
  }
}

/** Waits for the release of a window whose grace is over. */
async function releaseOf({ url }: Service, window: number): Promise<Release> {
  for (let tries = 0; tries < MOST_WAIT_MS / 100; tries++) {
    const release = await fetchRelease(url, TASK.task, window);
    if (release?.status === "released") return release;
    if (release) throw new Error(`window ${window} was not released: ${release.status}`);
    await sleep(100);
  }
  throw new Error(`window ${window} was not released in time`);
}
