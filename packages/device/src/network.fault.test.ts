import type { LetheError } from "@lethe/core/error";
import type { Task } from "@lethe/core/message";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../../server/test/eventually.ts";
import { asAdmin, EXACT_TASK, startTestService, type TestService } from "../../server/test/service.ts";
import { type Lethe, type LetheOptions, openLethe } from "../dist/index.js";
import { decodeRecord } from "../dist/record-codec.js";
import {
  type Asked,
  type Fault,
  type FaultProxy,
  faultsOf,
  type Request,
  startFaultProxy,
} from "../test/fault-proxy.ts";

/** Long enough that a device that fails ten times in a row still enrols. */
const TASK: Task = { ...EXACT_TASK, tickSeconds: 7200, graceSeconds: 7200, minimumDevices: 1 };
const WINDOW_SECONDS = TASK.ticks * TASK.tickSeconds;
const RETRY_AFTER_SECONDS = 40;
const MANY = { perSecond: 1e6, burst: 1e6 };

let service: TestService;
let proxy: FaultProxy;
let plan: (device: string, asked: Asked) => Fault | undefined = () => undefined;
const unhandled: unknown[] = [];
const onUnhandled = (error: unknown): void => void unhandled.push(error);

beforeAll(async () => {
  process.on("unhandledRejection", onUnhandled);
  service = await startTestService({ enrolment: { rate: MANY } });
  proxy = await startFaultProxy({
    service: { url: service.url },
    clock: service.clock,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    plan: (device, asked) => plan(device, asked),
  });
});
afterAll(async () => {
  await proxy.close();
  await service.remove();
  process.off("unhandledRejection", onUnhandled);
  expect(unhandled).toEqual([]);
});
beforeEach(() => {
  plan = () => undefined;
});

const sleep = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));
const windowNow = (): number => Math.floor(service.clock() / 1000 / WINDOW_SECONDS);

function toNextWindow(): void {
  service.clock.advance(WINDOW_SECONDS - ((service.clock() / 1000) % WINDOW_SECONDS));
}

let tasks = 0;
/** Each test has its own task, in a window that begins now and has keys. */
async function newTask(): Promise<Task> {
  const task = { ...TASK, task: `t${tasks++}` };
  expect((await asAdmin(service, "/v1/tasks", task)).status).toBe(201);
  toNextWindow();
  const path = `${service.url}/v1/tasks/${task.task}/windows/${windowNow()}/devices`;
  while ((await fetch(path, { method: "POST" })).status !== 201) await sleep(20);
  return task;
}

interface TestDevice {
  readonly name: string;
  readonly lethe: Lethe;
  readonly problems: LetheError[];
  codes(): string[];
  requests(asked: Asked): Request[];
}

let devices = 0;
async function open({ task }: Task, options: Partial<LetheOptions> = {}): Promise<TestDevice> {
  const name = `d${devices++}`;
  const problems: LetheError[] = [];
  const lethe = await openLethe({
    server: proxy.urlOf(name),
    operatorKey: service.operatorKey,
    task,
    clock: service.clock,
    onProblem: (error) => problems.push(error),
    ...options,
  });
  return {
    name,
    lethe,
    problems,
    codes: () => problems.map(({ code }) => code),
    requests: (asked) => proxy.requests.filter((request) => request.device === name && request.asked === asked),
  };
}

/** Keys run out when many enrol at once, and nobody is to blame for that. */
const isCounting = ({ lethe }: TestDevice): boolean => lethe.inspect().memory.length > 0;

function requireNothingKept({ lethe }: TestDevice): void {
  const { stored, memory } = lethe.inspect();
  expect([stored, memory.length]).toEqual([undefined, 0]);
}

async function untilCounting(device: TestDevice): Promise<void> {
  for (let i = 0; i < 200 && !isCounting(device); i++) {
    service.clock.advance(1);
    await device.lethe.sendPending();
  }
  expect(isCounting(device)).toBe(true);
}

async function statusOf({ task }: Task, window: number): Promise<{ enrolled: number; received: number }> {
  const response = await fetch(`${service.url}/v1/tasks/${task}/windows/${window}`);
  return (await response.json()) as { enrolled: number; received: number };
}

async function releaseOf({ task }: Task, window: number): Promise<{ received: number; estimate: number }> {
  const { received, metrics } = await eventually(async () => {
    const response = await fetch(`${service.url}/v1/tasks/${task}/releases/${window}`);
    if (response.status !== 200) return undefined;
    return (await response.json()) as { received: number; metrics: { estimate: number }[] };
  });
  return { received, estimate: Math.round(metrics[0]?.estimate ?? Number.NaN) };
}

/** Devices and windows, and what each sent: always the same bytes. How often it was sent again. */
function requireSameBytes(requests: readonly Request[]): number {
  const sent = new Map<string, Request[]>();
  for (const request of requests.filter(({ asked }) => asked === "report")) {
    sent.set(request.path, [...(sent.get(request.path) ?? []), request]);
  }
  let again = 0;
  for (const [first, ...others] of sent.values()) {
    for (const other of others) expect(other.body).toEqual(first?.body);
    again += others.length;
  }
  return again;
}

const once = (asked: Asked, fault: Fault): typeof plan => {
  let done = false;
  return (_device, what) => {
    if (done || what !== asked) return undefined;
    done = true;
    return fault;
  };
};

const CODES: Partial<Record<Fault, string>> = {
  "too many": "rate-limited",
  "wrong shape": "bad-encoding",
  truncated: "bad-encoding",
  "wrong signature": "bad-signature",
  "other keys": "bad-signature",
  "other keys, signed": "bad-signature",
  "random keys": "bad-signature",
};

describe("a fault while a device enrols is reported once, and got over", () => {
  let task: Task;
  beforeAll(async () => {
    task = await newTask();
  });

  const cases = (["manifest", "enrolment"] as const).flatMap((asked) =>
    faultsOf(asked).map((fault) => [asked, fault] as const),
  );
  it.each(cases)("%s: %s", async (asked, fault) => {
    plan = once(asked, fault);
    const device = await open(task);
    await device.lethe.sendPending();
    if (fault === "slow") {
      await untilCounting(device);
      expect(device.codes().filter((code) => code !== "no-keys-left")).toEqual([]);
      return device.lethe.close();
    }
    // Nothing is counted under what was refused, and nothing of it is kept.
    device.lethe.record("happened");
    requireNothingKept(device);
    expect(device.codes()).toEqual([CODES[fault] ?? "unreachable"]);
    await untilCounting(device);
    expect(device.problems[0]?.message).not.toMatch(/undefined|\[object/);
    const { stored } = device.lethe.inspect();
    expect(decodeRecord(stored as Uint8Array, service.operatorKey).windows).toHaveLength(1);
    await device.lethe.close();
  });
});

it("keys that somebody replaces again and again are never used: no window ever counts, and nothing is sent", async () => {
  const task = await newTask();
  const faults = ["other keys", "other keys, signed", "random keys", "wrong signature"] as const;
  let replaced = 0;
  plan = (_device, asked) => (asked === "enrolment" ? faults[replaced++ % faults.length] : undefined);
  const device = await open(task);
  for (let i = 0; i < 30; i++) {
    device.lethe.record("happened");
    requireNothingKept(device);
    service.clock.advance(600);
    await device.lethe.sendPending();
  }
  toNextWindow();
  await device.lethe.sendPending();
  const answered = device.requests("enrolment").filter(({ status }) => status === 201).length;
  console.log(JSON.stringify({ enrolmentsReplaced: answered }));
  expect(answered).toBeGreaterThan(4);
  expect(device.requests("report")).toEqual([]);
  expect(device.codes().filter((code) => code !== "no-keys-left")).toEqual(["bad-signature"]);
  expect((await statusOf(task, windowNow() - 1)).received).toBe(0);
  await device.lethe.close();
});

it("a report is sent again after whatever happened to it, with the same bytes, and counted once", async () => {
  const task = await newTask();
  const window = windowNow();
  const fleet: [Fault, TestDevice][] = [];
  for (const fault of faultsOf("report")) {
    const device = await open(task);
    await untilCounting(device);
    device.lethe.record("happened");
    fleet.push([fault, device]);
  }
  toNextWindow();
  for (const [fault, device] of fleet) {
    device.problems.length = 0;
    plan = once("report", fault);
    await device.lethe.sendPending();
    await device.lethe.sendPending();
    await device.lethe.sendPending();
    const reports = device.requests("report").map(({ status, delivered }) => [status, delivered]);
    const reached = fault === "cut after" ? 201 : undefined;
    if (fault === "slow") expect(reports).toEqual([[201, true]]);
    else {
      expect([fault, ...reports]).toEqual([fault, [reached, false], [reached ? 200 : 201, true]]);
      expect(device.codes().slice(0, 1)).toEqual([fault === "too many" ? "rate-limited" : "unreachable"]);
    }
    requireSameBytes(device.requests("report"));
    await device.lethe.close();
  }
  expect((await statusOf(task, window)).received).toBe(fleet.length);
  service.clock.advance(TASK.graceSeconds + 1);
  expect(await releaseOf(task, window)).toEqual({ received: fleet.length, estimate: fleet.length });
});

it("a report that nobody takes until its window is closed is reported once, and given up", async () => {
  const task = await newTask();
  const window = windowNow();
  const device = await open(task);
  await untilCounting(device);
  device.lethe.record("happened");
  plan = (_device, asked) => (asked === "report" ? "cut before" : undefined);
  toNextWindow();
  for (let i = 0; i < 4; i++) await device.lethe.sendPending();
  expect(device.requests("report")).toHaveLength(4);
  service.clock.advance(TASK.graceSeconds + 1);
  plan = () => undefined;
  for (let i = 0; i < 3; i++) await device.lethe.sendPending();
  expect(device.requests("report").filter(({ path }) => path.includes(`/${window}/`))).toHaveLength(5);
  expect(device.codes().filter((code) => code === "window-closed")).toEqual(["window-closed"]);
  expect(requireSameBytes(device.requests("report"))).toBe(4);
  expect((await statusOf(task, window)).received).toBe(0);
  await device.lethe.close();
});

it("a service that asks for time before the next enrolment gets it", async () => {
  const task = await newTask();
  plan = once("enrolment", "too many");
  const device = await open(task);
  await device.lethe.sendPending();
  const asked = (): number => device.requests("enrolment").length + device.requests("manifest").length;
  const before = asked();
  for (let second = 1; second < RETRY_AFTER_SECONDS; second++) {
    service.clock.advance(1);
    await device.lethe.sendPending();
    expect(asked()).toBe(before);
  }
  service.clock.advance(2);
  await device.lethe.sendPending();
  expect(asked()).toBeGreaterThan(before);
  await untilCounting(device);
  await device.lethe.close();
});

const share = (probability: number): typeof plan => {
  return (_device, asked) => {
    if (Math.random() >= probability) return undefined;
    const faults = faultsOf(asked);
    return faults[Math.floor(Math.random() * faults.length)];
  };
};

it("a fleet behind a network that fails at random is counted exactly, over two windows", async () => {
  const task = await newTask();
  const first = windowNow();
  plan = share(0.4);
  await proxy.refuse(true);
  const fleet = await Promise.all(Array.from({ length: 12 }, () => open(task)));
  for (const { lethe } of fleet) await lethe.sendPending();
  for (const device of fleet) expect([isCounting(device), device.codes()]).toEqual([false, ["unreachable"]]);
  await proxy.refuse(false);

  const ofWindow = (window: number, asked: Asked): Request[] =>
    proxy.requests.filter(
      (request) => request.asked === asked && request.path.includes(`${task.task}/windows/${window}/`),
    );
  const enrolledIn = (window: number): Set<string> =>
    new Set(ofWindow(window, "enrolment").flatMap(({ delivered, device }) => (delivered ? [device] : [])));
  const everybody = async (advance: number, rounds: number, enough: () => boolean): Promise<void> => {
    for (let round = 0; round < rounds && !enough(); round++) {
      service.clock.advance(advance);
      if (round % 7 === 3) await proxy.refuse(true);
      await Promise.all(fleet.map(({ lethe }) => lethe.sendPending()));
      if (round % 7 === 3) await proxy.refuse(false);
    }
  };
  const reported = (window: number): boolean =>
    new Set(ofWindow(window, "report").flatMap(({ delivered, device }) => (delivered ? [device] : []))).size >=
    enrolledIn(window).size;

  /**
   * At the end of a window every second device has something to count, if it is enrolled; the others must not be
   * counted.
   */
  const recordAndEnd = (odd: number): number => {
    const counting = fleet.filter((device, i) => i % 2 === odd && isCounting(device));
    for (const { lethe } of fleet.filter((_, i) => i % 2 === odd)) lethe.record("happened", 3);
    toNextWindow();
    return counting.length;
  };
  await everybody(60, 100, () => enrolledIn(first).size === fleet.length);
  await everybody(60, 100, () => enrolledIn(first + 1).size === fleet.length);
  const estimates = [recordAndEnd(1)];
  await everybody(1, 100, () => reported(first));
  await everybody(60, 100, () => enrolledIn(first + 1).size === fleet.length);
  estimates.push(recordAndEnd(0));
  await everybody(1, 100, () => reported(first + 1));
  const truth = estimates.map((estimate, i) => ({ received: enrolledIn(first + i).size, estimate }));

  const expired = fleet.flatMap(({ problems }) => problems.filter(({ code }) => code === "window-closed"));
  expect(expired).toEqual([]);
  service.clock.advance(TASK.graceSeconds + 1);
  const released = [await releaseOf(task, first), await releaseOf(task, first + 1)];
  for (const { lethe } of fleet) await lethe.close();
  const names = new Set(fleet.map(({ name }) => name));
  const requests = proxy.requests.filter(({ device }) => names.has(device));
  const sentAgain = requireSameBytes(requests);
  const faults: Record<string, number> = {};
  for (const { asked, fault } of requests)
    if (fault) faults[`${asked}: ${fault}`] = (faults[`${asked}: ${fault}`] ?? 0) + 1;
  console.log(JSON.stringify({ requests: requests.length, faults, sentAgain, truth, released }));
  expect(released).toEqual(truth);
  expect(sentAgain).toBeGreaterThan(0);
  // Else there would be nothing to see.
  for (const { received } of truth) expect(received).toBeGreaterThan(6);
});

// Again, because a busy machine adds to how long it waits.
it("by the clock on the wall, nobody drives it: a report waits as long as the service asks for", {
  retry: 5,
}, async () => {
  const real = await startTestService({ clock: Date.now });
  const tooMany = once("report", "too many");
  const between = await startFaultProxy({ service: real, retryAfterSeconds: 3, plan: tooMany });
  const task = { ...TASK, tickSeconds: 1, graceSeconds: 60 };
  expect((await asAdmin(real, "/v1/tasks", task)).status).toBe(201);
  const problems: LetheError[] = [];
  const lethe = await openLethe({
    server: between.urlOf("d"),
    operatorKey: real.operatorKey,
    task: task.task,
    onProblem: (error) => problems.push(error),
  });
  const reports = (): Request[] => {
    const [first] = between.requests.filter(({ asked }) => asked === "report");
    return between.requests.filter(({ path }) => path === first?.path);
  };
  await eventually(async () => reports()[1]?.status);
  await lethe.close();
  const [first, second] = reports();
  const waited = (second?.at ?? 0) - (first?.at ?? 0);
  console.log(JSON.stringify({ askedFor: 3000, waited }));
  expect([first?.fault, second?.status]).toEqual(["too many", 201]);
  expect(waited).toBeGreaterThanOrEqual(3000);
  expect(waited).toBeLessThan(3000 + 4000);
  requireSameBytes(reports());
  expect(problems.map(({ code }) => code)).toContain("rate-limited");
  await between.close();
  await real.remove();
});
