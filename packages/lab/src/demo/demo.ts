/**
 * The demonstration behind `lethe demo`: a service and devices with the SDK, over HTTP, and what happened beside what
 * was released. `demo.ts` runs one server in this process, `two-servers.ts` runs a leader and a helper as processes,
 * `result.ts` is what both return. Imports core, the SDK, the service, the analyst's client, `fleet`, `parallel` and
 * `processes`.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createTask, fetchRelease, fetchWindow } from "@lethe/analyst";
import type { LetheError } from "@lethe/core/error";
import { beginningOf, nextTick, type Release, type Task, windowAt } from "@lethe/core/message";
import type { StreamEvent } from "@lethe/core/statistic";
import { type Lethe, openLethe } from "@lethe/device";
import { openService, type Service } from "@lethe/server";
import { pino } from "pino";
import { happens } from "../fleet/fleet.ts";
import { truthOf } from "../fleet/truth.ts";
import { inParallel } from "../parallel/in-parallel.ts";
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
  graceSeconds: 1800,
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
const TOKEN = crypto.randomUUID();

/**
 * Starts the service with the embedded database. Each window runs a few hundred devices, each with the SDK, over HTTP,
 * by a simulated clock.
 */
export async function openDemo({ devices = DEVICES }: { readonly devices?: number } = {}): Promise<Demo> {
  const folder = mkdtempSync(join(tmpdir(), "lethe-demo-"));
  // The first whole window from now on.
  let now = 1000 * beginningOf(TASK, windowAt(TASK, Date.now() / 1000) + 1);
  const clock = (): number => now;
  const windowNow = (): number => windowAt(TASK, now / 1000);
  const service = await openService({
    data: join(folder, "data"),
    keyFile: join(folder, "keys"),
    adminToken: TOKEN,
    host: "127.0.0.1",
    port: 0,
    log: pino({ level: "silent" }),
    clock,
    enrolment: { rate: { perSecond: 1e6, burst: 1e6 } },
  });
  const problems: LetheError[] = [];
  const fleet: Lethe[] = [];

  /** Moves the clock, and lets every device do what is due. */
  async function advance(milliseconds: number): Promise<void> {
    now += milliseconds;
    await inParallel(fleet.length, (i) => (fleet[i] as Lethe).sendPending(), AT_ONCE);
  }

  /** Waits until all devices have enrolled and count; the service makes keys as fast as it can. */
  async function allCount(): Promise<void> {
    const since = Date.now();
    while (fleet.some((lethe) => lethe.inspect().memory.length === 0)) {
      if (Date.now() - since > MOST_WAIT_MS) throw problems.at(-1) ?? new Error("the devices cannot enrol");
      await sleep(100);
      await advance(2000);
    }
  }

  async function runWindow(progress: (share: number) => void = () => {}): Promise<DemoResult> {
    const started = performance.now();
    const steps = devices + TASK.ticks;
    for (let i = fleet.length; i < devices; i++) {
      const { url: server, operatorKey = "" } = service;
      const options = { server, task: TASK.task, operatorKey, clock };
      fleet.push(await openLethe({ ...options, onProblem: (problem) => problems.push(problem) }));
      progress(i / steps);
    }
    await allCount();
    const window = windowNow();
    const streams = fleet.map((): StreamEvent[] => []);
    while (windowNow() === window) {
      const tick = Math.floor((now / 1000 - beginningOf(TASK, window)) / TASK.tickSeconds);
      recordEvents(fleet, streams, tick);
      await advance(1000 * nextTick(TASK, now / 1000) - now);
      progress((devices + (now / 1000 - beginningOf(TASK, window)) / TASK.tickSeconds) / steps);
    }
    await allReported(service, window, devices, () => advance(2000));
    now += 1000 * TASK.graceSeconds;
    const release = await releaseOf(service, window);
    return resultOf(release, truthOf(TASK, streams), { devices, started });
  }

  await createTask(service.url, TOKEN, { ...TASK, minimumDevices: Math.min(devices, MINIMUM_DEVICES) });
  return {
    urls: [service.url],
    task: TASK.task,
    devices,
    ticks: TASK.ticks,
    runWindow,
    close: async () => {
      await Promise.all(fleet.map((lethe) => lethe.close()));
      await service.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
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
    await sleep(100);
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
