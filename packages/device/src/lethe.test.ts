import { LetheError } from "@lethe/core/error";
import type { Task } from "@lethe/core/message";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../../server/test/eventually.ts";
import { asAdmin, EXACT_TASK, startTestService, type TestService } from "../../server/test/service.ts";
import { type Lethe, type LetheOptions, memoryStore, openLethe, type Store } from "../dist/index.js";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.remove());

const [WINDOW_SECONDS, GRACE_SECONDS] = [120, 60];

let tasks = 0;
/** Each test has its own task, in a window that begins now. */
async function newTask(changed: Partial<Task> = {}): Promise<Task> {
  const task = { ...EXACT_TASK, task: `t${tasks++}`, graceSeconds: GRACE_SECONDS, ...changed };
  expect((await asAdmin(service, "/v1/tasks", task)).status).toBe(201);
  toNextWindow();
  await keysAreReady(task);
  return task;
}

/** They are made ahead, but not at once. */
async function keysAreReady({ task }: Task): Promise<void> {
  const path = `${service.url}/v1/tasks/${task}/windows/${windowNow()}/devices`;
  while ((await fetch(path, { method: "POST" })).status !== 201) await sleep(50);
}

const sleep = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** The clock is that of service and devices. */
function toNextWindow(): void {
  service.clock.advance(WINDOW_SECONDS - ((service.clock() / 1000) % WINDOW_SECONDS));
}

const windowNow = (): number => Math.floor(service.clock() / 1000 / WINDOW_SECONDS);

interface TestDevice {
  readonly lethe: Lethe;
  readonly problems: LetheError[];
}

async function open({ task }: Task, options: Partial<LetheOptions> = {}): Promise<TestDevice> {
  const problems: LetheError[] = [];
  const lethe = await openLethe({
    server: service.url,
    operatorKey: service.operatorKey,
    task,
    clock: service.clock,
    // A service may still be making the keys of the next window, for which a device asks ahead; it asks again.
    onProblem: (error) => error.code !== "no-keys-left" && problems.push(error),
    ...options,
  });
  await lethe.sendPending();
  return { lethe, problems };
}

async function released(task: Task, window: number): Promise<number | undefined> {
  service.clock.advance(GRACE_SECONDS + 1);
  const { metrics } = await eventually(async () => {
    const response = await fetch(`${service.url}/v1/tasks/${task.task}/releases/${window}`);
    return response.status === 200 ? ((await response.json()) as { metrics?: { estimate: number }[] }) : undefined;
  });
  return metrics && Math.round(metrics[0]?.estimate ?? Number.NaN);
}

async function received(task: Task, window: number): Promise<number> {
  const response = await fetch(`${service.url}/v1/tasks/${task.task}/windows/${window}`);
  return ((await response.json()) as { received: number }).received;
}

describe("a window", () => {
  it("is counted, sealed and sent, event or not", async () => {
    const task = await newTask();
    const window = windowNow();
    const devices = await Promise.all(Array.from({ length: 4 }, () => open(task)));
    for (const { lethe } of devices.slice(0, 3)) lethe.record("happened", 5);
    toNextWindow();
    for (const { lethe } of devices) await lethe.sendPending();
    expect(await released(task, window)).toBe(3);
    for (const { lethe, problems } of devices) {
      await lethe.close();
      expect(problems).toEqual([]);
    }
  });

  it("goes on after the program was closed and opened again", async () => {
    const task = await newTask();
    const window = windowNow();
    const stores = [memoryStore(), memoryStore(), memoryStore()];
    for (const store of stores.slice(1)) {
      const { lethe } = await open(task, { store });
      lethe.record("happened");
      await lethe.close();
    }
    const idle = await open(task, { store: stores[0] as (typeof stores)[number] });
    await idle.lethe.close();
    toNextWindow();
    for (const store of stores) await (await open(task, { store })).lethe.close();
    expect(await released(task, window)).toBe(2);
  });

  it("that a device was enrolled in but slept through is reported as well", async () => {
    const task = await newTask();
    const window = windowNow();
    const { lethe, problems } = await open(task);
    await enrolInNext(lethe, task);
    toNextWindow();
    toNextWindow();
    await lethe.sendPending();
    expect(await received(task, window + 1)).toBe(1);
    expect(problems.map(({ code }) => code)).toEqual(["window-closed"]);
    await lethe.close();
  });
});

/** Each device enrols in the next window at its own time in this one. */
async function enrolInNext(lethe: Lethe, { task }: Task): Promise<void> {
  service.clock.advance(WINDOW_SECONDS / 2 + 1);
  const path = `${service.url}/v1/tasks/${task}/windows/${windowNow() + 1}`;
  for (;;) {
    await lethe.sendPending();
    if (((await (await fetch(path)).json()) as { enrolled: number }).enrolled > 0) return;
    await sleep(50);
    service.clock.advance(1);
  }
}

describe("a clock that jumps", () => {
  it("a window back and forth sends no second report, and loses no window", async () => {
    const task = await newTask({ minimumDevices: 1 });
    const window = windowNow();
    let offset = 0;
    const clock = (): number => service.clock() + offset;
    const { lethe, problems } = await open(task, { clock });
    lethe.record("happened");
    for (const jump of [-3, 2, -1, 1]) {
      offset = 1000 * WINDOW_SECONDS * jump;
      await lethe.sendPending();
      lethe.record("happened");
    }
    offset = 0;
    toNextWindow();
    await lethe.sendPending();
    expect(await received(task, window)).toBe(1);
    expect(await released(task, window)).toBe(1);
    await lethe.close();
    // Events come while no window counts, too.
    const expected = ["window-not-open", "events-dropped"];
    expect(problems.filter(({ code }) => !expected.includes(code))).toEqual([]);
  });
});

describe("what goes wrong is reported, and the application goes on", () => {
  it("a name that is not in the task, once", async () => {
    const task = await newTask();
    const { lethe, problems } = await open(task);
    for (let i = 0; i < 3; i++) lethe.record("hapened");
    await lethe.sendPending();
    lethe.record("hapened");
    expect(problems.map(({ code, message }) => [code, message])).toEqual([
      ["unknown-metric", `there is no metric "hapened" in ${task.task}`],
    ]);
    await lethe.close();
  });

  it("a service that cannot be reached, once", async () => {
    const fetch = async (): Promise<Response> => {
      throw new TypeError("fetch failed");
    };
    const { lethe, problems } = await open(EXACT_TASK, { fetch });
    lethe.record("happened");
    for (let i = 0; i < 3; i++) {
      service.clock.advance(4);
      await lethe.sendPending();
    }
    expect(problems.map(({ code }) => code)).toEqual(["unreachable"]);
    await lethe.close();
  });

  it("not a store that takes long to load", async () => {
    const task = await newTask();
    const inner = memoryStore();
    const store: Store = {
      ...inner,
      load: async () => {
        await sleep(400);
        return inner.load();
      },
    };
    const { lethe, problems } = await open(task, { store });
    await eventually(async () => {
      await lethe.sendPending();
      return lethe.inspect().memory.length > 0 || undefined;
    });
    expect(problems).toEqual([]);
    await lethe.close();
  });

  it("a manifest that somebody else signed", async () => {
    const task = await newTask();
    const operatorKey = `ed25519:${"A".repeat(43)}`;
    const { lethe, problems } = await open(task, { operatorKey });
    expect(problems.map(({ code }) => code)).toEqual(["bad-signature"]);
    expect(lethe.inspect().memory).toEqual([]);
    await lethe.close();
  });

  it.each([
    ["garbage", (bytes: Uint8Array) => bytes.map((byte, i) => byte ^ (i * 31))],
    ["nothing", () => new Uint8Array()],
    ["cut off", (bytes: Uint8Array) => bytes.subarray(0, 300)],
    ["another version", (bytes: Uint8Array) => bytes.with(0, 9)],
    ["another kind", (bytes: Uint8Array) => bytes.with(1, 9)],
    ["a head that is too long", (bytes: Uint8Array) => bytes.with(5, 255)],
    ["a head that was changed", (bytes: Uint8Array) => bytes.with(40, 1 ^ (bytes[40] as number))],
  ])("a state that is %s: it begins afresh", async (_what, spoil) => {
    const task = await newTask();
    const store = memoryStore();
    const first = await open(task, { store });
    await first.lethe.close();
    await store.save(spoil((await store.load()) as Uint8Array), { durable: true });
    const { lethe, problems } = await open(task, { store });
    expect(problems.map(({ code }) => code)).toEqual(["bad-state"]);
    expect(lethe.inspect().memory).toHaveLength(1);
    await lethe.close();
  });

  it("a state of another task: it begins afresh, and leaves the other's report alone", async () => {
    const [task, other] = [await newTask(), await newTask()];
    const store = memoryStore();
    await (await open(task, { store })).lethe.close();
    const { lethe, problems } = await open(other, { store });
    expect(problems.map(({ code }) => code)).toEqual(["bad-state"]);
    await lethe.close();
  });

  it("a number of times that is not valid, once until the next write, without throwing", async () => {
    const { lethe, problems } = await open(await newTask());
    const wrong = [1.5, Number.NaN, Number.POSITIVE_INFINITY, -1, "2", null, Symbol("2")] as number[];
    for (const times of wrong) lethe.record("happened", times);
    expect(problems.map(({ code, message }) => [code, message])).toEqual([
      ["bad-encoding", "times must be a non-negative integer, got 1.5"],
    ]);
    service.clock.advance(EXACT_TASK.tickSeconds);
    await lethe.sendPending();
    for (const times of wrong.toReversed()) lethe.record("happened", times);
    expect(problems.map(({ message }) => message).slice(1)).toEqual(["times must be a non-negative integer, got NaN"]);
    await lethe.close();
  });

  it("a number of times that is too large to be exact, without throwing: an automaton applies a map so many times", async () => {
    const funnel = { name: "steps", statistic: "funnel", steps: ["happened"], localEpsilon: 1 } as const;
    const { lethe, problems } = await open(await newTask({ metrics: [...EXACT_TASK.metrics, funnel] }));
    lethe.record("happened", Number.MAX_SAFE_INTEGER);
    expect(problems).toEqual([]);
    lethe.record("happened", 2 ** 53);
    expect(problems.map(({ code }) => code)).toEqual(["bad-encoding"]);
    await lethe.close();
  });

  it("a number of times that is not valid in a tab that waits, by the tab that writes", async () => {
    let forwarded: readonly unknown[] = [];
    const tabs = {
      forward: (...event: readonly unknown[]) => {
        forwarded = structuredClone(event);
      },
      receive: () => {},
      announce: () => {},
      listen: () => {},
      stop: () => {},
    };
    const store = { ...memoryStore(), tabs, lock: () => new Promise<undefined>(() => {}) };
    const { lethe, problems } = await open(EXACT_TASK, { store });
    lethe.record("happened", (() => {}) as unknown as number);
    expect(forwarded).toEqual(["happened", Number.NaN]);
    lethe.record("happened", 1.5);
    expect(forwarded).toEqual(["happened", 1.5]);
    expect(problems).toEqual([]);
  });

  it("that another writes to the same store, and nobody takes the events", async () => {
    const store = { ...memoryStore(), lock: () => new Promise<undefined>(() => {}) };
    const problems: LetheError[] = [];
    const options = { server: service.url, operatorKey: service.operatorKey, task: "t", store };
    const lethe = await openLethe({ ...options, onProblem: (error) => problems.push(error) });
    lethe.record("happened");
    expect(problems.map(({ code }) => code)).toEqual(["bad-store"]);
  });

  it("an application whose onProblem throws", async () => {
    const onProblem = (): void => {
      throw new Error("of the application");
    };
    const task = await newTask();
    const { lethe } = await open(task, { onProblem });
    expect(() => lethe.record("hapened")).not.toThrow();
    await lethe.close();
  });
});

describe("consent", () => {
  it("withdrawn wipes everything and stops; given again begins afresh", async () => {
    const task = await newTask();
    const store = memoryStore();
    const { lethe } = await open(task, { store });
    lethe.record("happened");
    await lethe.setConsent(false);
    expect(await store.load()).toBeUndefined();
    lethe.record("happened");
    expect(lethe.inspect()).toEqual({ stored: undefined, memory: [] });
    await lethe.setConsent(true);
    await lethe.sendPending();
    expect(lethe.inspect().memory).toHaveLength(1);
    await lethe.close();
  });

  it("that was never given asks nobody and keeps nothing", async () => {
    let asked = 0;
    const fetch = async (): Promise<Response> => {
      asked++;
      throw new TypeError("fetch failed");
    };
    const store = memoryStore();
    const { lethe } = await open(EXACT_TASK, { fetch, store, consent: false });
    lethe.record("happened");
    await lethe.sendPending();
    await lethe.close();
    expect([asked, await store.load()]).toEqual([0, undefined]);
  });
});

describe("options that are wrong", () => {
  it("are reported at once", async () => {
    const good = { server: service.url, task: "t", operatorKey: service.operatorKey };
    await expect(openLethe({ ...good, operatorKey: "rsa:1" })).rejects.toThrow(LetheError);
    await expect(openLethe({ ...good, server: "telemetry.example" })).rejects.toThrow(TypeError);
  });
});
