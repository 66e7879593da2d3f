import { setTimeout as sleep } from "node:timers/promises";
import { LetheError } from "@lethe/core/error";
import { type Manifest, parseManifest, parseSignedManifest, requireNoRedirect } from "@lethe/core/message";
import { type Randomness, randomnessFrom, uniformBelow } from "@lethe/core/randomness";
import { type Lethe, openLethe } from "@lethe/device";
import { inParallel } from "./in-parallel.ts";
import { type Truth, truthOf } from "./truth.ts";

export interface FleetOptions {
  readonly server: string;
  readonly task: string;
  readonly devices: number;
  /** In each tick each device has an event of each metric with this probability. */
  readonly rate: number;
  /** Pinned as an application would; trusted on first use if absent. */
  readonly operatorKey?: string;
  /** Of a task of two servers. */
  readonly helperKey?: string;
}

export interface FleetResult {
  readonly task: string;
  readonly window: number;
  readonly devices: number;
  readonly truth: readonly Truth[];
}

const random: Randomness = randomnessFrom(globalThis.crypto);

/** Whether something happens that has this probability. */
export function happens(rate: number): boolean {
  return uniformBelow(random, 2 ** 32) < rate * 2 ** 32;
}

/** What a service says of a task, unchecked. */
export async function fetchManifest(server: string, task: string): Promise<Manifest> {
  const response = await fetch(`${server}/v1/tasks/${task}`, { redirect: "manual" });
  requireNoRedirect(server, response);
  if (!response.ok) throw new LetheError("unknown-task", `there is no task ${task} at ${server}`);
  return parseManifest(parseSignedManifest(await response.text()).manifest);
}

/** With less than this left of a window, a fleet takes the next. */
const LEAST_SECONDS_LEFT = 60;

/** The window that is running, or the next if this one is about to end; and when it begins, Unix seconds. */
export function windowFor({ ticks, tickSeconds }: Manifest): { number: number; from: number } {
  const seconds = ticks * tickSeconds;
  const number = Math.floor((Date.now() / 1000 + LEAST_SECONDS_LEFT) / seconds);
  const next = Math.floor(Date.now() / 1000 / seconds) + 1;
  return { number: Math.min(number, next), from: Math.min(number, next) * seconds };
}

const MOST_TRIES = 20;

/**
 * A fleet of devices with the SDK that enrol over HTTP in the running window or the next, live through it in a hurry, by a clock of their own, and report once
 * it has begun. What happened is drawn at random and told, so that a release can be compared with it.
 */
export async function runFleet(
  { server, task, devices, rate, operatorKey, helperKey }: FleetOptions,
  progress: (share: number) => void = () => {},
): Promise<FleetResult> {
  const manifest = await fetchManifest(server, task);
  const { ticks, tickSeconds, metrics, servers } = manifest;
  const { number: window, from } = windowFor(manifest);
  const start = Math.max(1000 * from, Date.now());
  const [first, helper] = servers;
  const keys = {
    operatorKey: operatorKey ?? first?.key ?? "",
    ...(helper && { helperKey: helperKey ?? helper.key }),
  };
  const options = { server, task, ...keys, window };
  const fleet = await inParallel(devices, () => enrolled(options, start));
  // Reports are accepted from the window's beginning on.
  await sleep(Math.max(0, 1000 * from - Date.now()));
  const end = 1000 * (from + ticks * tickSeconds);
  let sent = 0;
  const counts = await inParallel(devices, async (i) => {
    const device = fleet[i] as FleetDevice;
    const count = new Map<string, number>();
    while (device.now < end) {
      for (const { name } of metrics) {
        if (!happens(rate)) continue;
        device.lethe.record(name);
        count.set(name, (count.get(name) ?? 0) + 1);
      }
      device.now += 1000 * tickSeconds - (device.now % (1000 * tickSeconds));
      // Lets it notice what time it is.
      if (device.now < end) await device.lethe.sendPending();
    }
    await report(device);
    progress(++sent / devices);
    return count;
  });
  return { task, window, devices, truth: truthOf(manifest, counts) };
}

interface FleetDevice {
  readonly lethe: Lethe;
  /** What it believes to be the time, Unix milliseconds. */
  now: number;
  hasReported: boolean;
  problem: LetheError | undefined;
}

/** A device that counts in this window, and enrols in no other. */
async function enrolled(
  { window, ...options }: { server: string; task: string; operatorKey: string; helperKey?: string; window: number },
  now: number,
): Promise<FleetDevice> {
  const request: typeof fetch = async (url, init) => {
    if (init?.method === "POST" && !String(url).includes(`/windows/${window}/`)) throw new TypeError("one window only");
    const response = await fetch(url, init);
    if (init?.method === "PUT" && response.ok) state.hasReported = true;
    return response;
  };
  const state = { now, hasReported: false, problem: undefined as LetheError | undefined };
  const onProblem = (problem: LetheError): void => {
    if (problem.cause === undefined) state.problem = problem;
  };
  const lethe = await openLethe({ ...options, clock: () => state.now, fetch: request, onProblem });
  const device: FleetDevice = Object.assign(state, { lethe });
  await untilDone(device, () => lethe.inspect().memory.length > 0);
  return device;
}

async function report(device: FleetDevice): Promise<void> {
  await untilDone(device, () => device.hasReported);
  await device.lethe.close();
}

/** Tries again as long as the service says that it is only busy. */
async function untilDone(device: FleetDevice, isDone: () => boolean): Promise<void> {
  for (let tries = 0; ; tries++) {
    await device.lethe.sendPending();
    if (isDone()) return;
    const isOver = device.problem?.code === "window-closed" || device.problem?.code === "bad-signature";
    if (isOver || tries === MOST_TRIES) {
      throw device.problem ?? new LetheError("unreachable", "the service does not take what devices send");
    }
    await sleep(100 * (tries + 1));
    // Its patience passes with its own clock.
    device.now += 1000;
  }
}
