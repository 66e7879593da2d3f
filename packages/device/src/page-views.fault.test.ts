import { LetheError } from "@lethe/core/error";
import type { Task } from "@lethe/core/message";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../../server/test/eventually.ts";
import { createTask, startTestService, type TestService } from "../../server/test/service.ts";
import { type LetheOptions, memoryStore, openLethe, type Store } from "../dist/index.js";

const [TICK_SECONDS, TICKS, GRACE_SECONDS] = [60, 24, 60];
const WINDOW_SECONDS = TICK_SECONDS * TICKS;
const DAY: Task = {
  version: 1,
  task: "",
  tickSeconds: TICK_SECONDS,
  ticks: TICKS,
  graceSeconds: GRACE_SECONDS,
  mode: "one-server",
  minimumDevices: 1,
  metrics: [],
};

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.remove());

let tasks = 0;

/** In a window that begins now. */
async function newTask(changed: Partial<Task>): Promise<Task> {
  const task = { ...DAY, task: `views-${tasks++}`, ...changed };
  await createTask(service, task);
  service.clock.advance(WINDOW_SECONDS - ((service.clock() / 1000) % WINDOW_SECONDS));
  return task;
}

interface Device {
  readonly store: Store;
  readonly problems: LetheError[];
  /** Sizes of what was saved, in order. */
  readonly saved: number[];
  options(task: Task): LetheOptions;
}

function newDevice(): Device {
  const inner = memoryStore();
  const problems: LetheError[] = [];
  const saved: number[] = [];
  const store: Store = {
    ...inner,
    save: (record, how) => {
      saved.push(record.length);
      return inner.save(record, how);
    },
  };
  const options = ({ task }: Task): LetheOptions => ({
    server: service.url,
    task,
    operatorKey: service.operatorKey,
    clock: service.clock,
    store,
    onProblem: (error) => problems.push(error),
  });
  return { store, problems, saved, options };
}

/** Opened when it counts; keys are made ahead, but not at once. */
async function openCounting(device: Device, task: Task) {
  const lethe = await openLethe(device.options(task));
  await eventually(async () => {
    if (lethe.inspect().memory.length > 0) return true;
    await lethe.sendPending();
    if (lethe.inspect().memory.length === 0) service.clock.advance(1);
    return lethe.inspect().memory.length > 0 || undefined;
  });
  // That is what it waited for.
  expect(device.problems.splice(0).filter(({ code }) => code !== "no-keys-left")).toEqual([]);
  return lethe;
}

interface Released {
  readonly received: number;
  readonly metrics: readonly { name: string; estimate: number; buckets?: readonly { estimate: number }[] }[];
}

async function released(device: Device, task: Task, window: number): Promise<Released> {
  service.clock.advance((window + 1) * WINDOW_SECONDS - service.clock() / 1000);
  const lethe = await openLethe(device.options(task));
  await eventually(async () => {
    await lethe.sendPending();
    const state = await fetch(`${service.url}/v1/tasks/${task.task}/windows/${window}`);
    return ((await state.json()) as { received: number }).received === 1 ? true : undefined;
  });
  await lethe.close();
  service.clock.advance(GRACE_SECONDS + 1);
  return eventually(async () => {
    const answer = await fetch(`${service.url}/v1/tasks/${task.task}/releases/${window}`);
    return answer.ok ? ((await answer.json()) as Released) : undefined;
  });
}

/** Told by one release; a wrong answer at ε = 16 comes once in nine million. */
const happened = ({ metrics }: Released): string[] =>
  metrics.filter(({ estimate }) => estimate > 0.5).map(({ name }) => name);

describe("a site of many pages", () => {
  /** Each page view opens, records its own event, and closes; the views are spread over the window. */
  async function view(views: number) {
    const names = Array.from({ length: views }, (_, i) => `view-${i}`);
    const task = await newTask({
      metrics: names.map((name) => ({ name, statistic: "occurrence", localEpsilon: 16 })),
    });
    const device = newDevice();
    /** By view. */
    const told = new Map<string, string[]>();
    const first = await openCounting(device, task);
    const { window } = await first.ready;
    first.record("view-0");
    await first.close();
    const begins = service.clock() / 1000;
    const step = ((window + 1) * WINDOW_SECONDS - begins - 2) / views;
    for (const [i, name] of names.entries()) {
      if (i === 0) continue;
      service.clock.advance(begins + i * step - service.clock() / 1000);
      const lethe = await openLethe(device.options(task));
      lethe.record(name);
      await lethe.close();
      const codes = device.problems.splice(0).map(({ code }) => code);
      if (codes.length > 0) told.set(name, codes);
    }
    return { release: await released(device, task, window), told, names };
  }

  it("900 short views in 24 ticks lose nothing", async () => {
    const { release, told, names } = await view(900);
    expect(happened(release)).toEqual(names);
    expect([...told]).toEqual([]);
  });

  it("of 1,300 the application hears that those are not counted for which no write is left; all others are", async () => {
    const { release, told, names } = await view(1300);
    const counted = new Set(happened(release));
    // 1,000 hides, and what ticks that passed while it was closed did not use.
    expect(counted.size).toBeGreaterThanOrEqual(1000);
    expect(counted.size).toBeLessThanOrEqual(1000 + TICKS);
    for (const [i, name] of names.entries()) {
      if (i < 1000) expect(counted.has(name)).toBe(true);
      if (!counted.has(name)) expect(told.get(name)).toEqual(["events-dropped"]);
    }
    expect(new Set([...told.values()].flat())).toEqual(new Set(["events-dropped"]));
    console.log(JSON.stringify({ views: 1300, counted: counted.size, told: told.size }));
  });

  it("histograms and means count on after a page is left, within one tick", async () => {
    const task = await newTask({
      metrics: [
        { name: "clicks", statistic: "histogram", edges: [0, 1, 2, 5], localEpsilon: 16 },
        { name: "tabs", statistic: "mean", limit: 10, sigma: 0.01 },
      ],
    });
    const device = newDevice();
    const first = await openCounting(device, task);
    const { window } = await first.ready;
    await first.close();
    for (const times of [1, 1, 2]) {
      const lethe = await openLethe(device.options(task));
      lethe.record("clicks");
      lethe.record("tabs", times);
      await lethe.close();
    }
    const [clicks, tabs] = (await released(device, task, window)).metrics;
    expect(clicks?.buckets?.map(({ estimate }) => Math.round(estimate) + 0)).toEqual([0, 0, 1, 0]);
    expect(Math.round(tabs?.estimate ?? Number.NaN)).toBe(4);
    expect(device.problems).toEqual([]);
  });
});

describe("a session writes 1, 5 and 20 seconds after it began to count", () => {
  const METRICS: Task["metrics"] = [{ name: "a", statistic: "occurrence", localEpsilon: 16 }];

  /** How many writes there were after each second. */
  async function writesOf(hides: number, events: boolean): Promise<number[]> {
    const task = await newTask({ hides, metrics: METRICS });
    const device = newDevice();
    const lethe = await openCounting(device, task);
    const left = (): number => lethe.inspect().memory[0]?.left.writes ?? Number.NaN;
    const [before, saves] = [left(), device.saved.length];
    const counts = [];
    for (let second = 1; second <= 30; second++) {
      service.clock.advance(1);
      if (events) lethe.record("a");
      await lethe.sendPending();
      counts.push(before - left());
    }
    expect(new Set(device.saved.slice(saves)).size).toBeLessThanOrEqual(1);
    await lethe.close();
    return counts;
  }

  const expected = Array.from({ length: 30 }, (_, i) => [1, 5, 20].filter((at) => at <= i + 1).length);

  it("event or not, with versions of one size", async () => {
    expect(await writesOf(1000, false)).toEqual(expected);
    expect(await writesOf(1000, true)).toEqual(expected);
  });

  it("until half of the hides are used", async () => {
    expect((await writesOf(4, true)).at(-1)).toBe(2);
    expect((await writesOf(0, true)).at(-1)).toBe(0);
  });

  it("a session that is killed has lost only what came after its last write", async () => {
    const task = await newTask({ metrics: [...METRICS, { name: "b", statistic: "occurrence", localEpsilon: 16 }] });
    const device = newDevice();
    const lethe = await openCounting(device, task);
    const { window } = await lethe.ready;
    lethe.record("a");
    service.clock.advance(1);
    await lethe.sendPending();
    lethe.record("b");
    // Killed: never closed, and its timers do nothing more, since the clock that they ask stands still for it.
    const kept = await device.store.load();
    const revived = newDevice();
    await revived.store.save(kept as Uint8Array, { durable: true });
    expect(happened(await released(revived, task, window))).toEqual(["a"]);
  });
});

describe("events that find no room", () => {
  it("are reported again in the next window, and while none counts", async () => {
    const task = await newTask({
      ticks: 1,
      tickSeconds: WINDOW_SECONDS,
      hides: 2,
      scheme: "lattice",
      metrics: [{ name: "m", statistic: "mean", limit: 3, sigma: 0.01, eventsPerTick: 1 }],
    });
    const device = newDevice();
    const lethe = await openCounting(device, task);
    lethe.record("m", 3);
    const codes = () => device.problems.splice(0).map(({ code }) => code);
    expect(codes()).toEqual(["events-dropped"]);
    // Long enough that nothing was enrolled ahead.
    service.clock.advance(5 * WINDOW_SECONDS);
    lethe.inspect();
    await lethe.sendPending();
    codes();
    await eventually(async () => {
      if (lethe.inspect().memory.length > 0) return true;
      lethe.record("m");
      expect(codes().filter((code) => code !== "events-dropped")).toEqual([]);
      await lethe.sendPending();
      service.clock.advance(1);
      return undefined;
    });
    codes();
    lethe.record("m", 3);
    expect(codes()).toEqual(["events-dropped"]);
    await lethe.close();
  });

  it("are reported once until the next write, which makes room again", async () => {
    const task = await newTask({
      hides: 10,
      scheme: "lattice",
      metrics: [{ name: "clicks", statistic: "histogram", edges: [0, 1, 2, 5], localEpsilon: 16, eventsPerTick: 2 }],
    });
    const device = newDevice();
    const lethe = await openCounting(device, task);
    const { window } = await lethe.ready;
    for (let i = 0; i < 5; i++) lethe.record("clicks");
    expect(device.problems.map(({ code }) => code)).toEqual(["events-dropped"]);
    expect(device.problems[0]).toBeInstanceOf(LetheError);
    expect(lethe.inspect().memory[0]).toMatchObject({ eventsInTick: 2, left: { events: 0 } });
    service.clock.advance(TICK_SECONDS);
    await lethe.sendPending();
    lethe.record("clicks", 2);
    expect(device.problems).toHaveLength(1);
    lethe.record("clicks");
    expect(device.problems.map(({ code }) => code)).toEqual(["events-dropped", "events-dropped"]);
    await lethe.close();
    const [clicks] = (await released(device, task, window)).metrics;
    expect(clicks?.buckets?.map(({ estimate }) => Math.round(estimate) + 0)).toEqual([0, 0, 1, 0]);
  });
});
