import { setTimeout as sleep } from "node:timers/promises";
import { fetchManifest } from "@lethe/analyst";
import { LetheError } from "@lethe/core/error";
import { beginningOf, type Manifest, windowAt, windowSeconds } from "@lethe/core/message";
import { type Randomness, randomnessFrom, uniformBelow } from "@lethe/core/randomness";
import { type Lethe, openLethe } from "@lethe/device";
import { inParallel } from "../parallel/in-parallel.ts";
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

/** With less than this left of a window, a fleet takes the next. */
const LEAST_SECONDS_LEFT = 60;

/** The window that is running, or the next if this one is about to end; and when it begins, Unix seconds. */
export function windowFor(manifest: Manifest): { number: number; from: number } {
  const now = Date.now() / 1000;
  const number = Math.min(windowAt(manifest, now + LEAST_SECONDS_LEFT), windowAt(manifest, now) + 1);
  return { number, from: beginningOf(manifest, number) };
}

/** So many devices enrol in a moment. */
const FEW = 20;

/** Short windows, as services in development have them, begin before many devices have enrolled: these begin to enrol as soon as they may. */
function secondsToWait(manifest: Manifest, devices: number): number {
  const seconds = windowSeconds(manifest);
  return devices > FEW && seconds < LEAST_SECONDS_LEFT ? seconds - ((Date.now() / 1000) % seconds) : 0;
}

const MOST_TRIES = 20;

/**
 * A fleet of devices with the SDK that enrol over HTTP in the running window or the next, live through it in a hurry, by a clock of their own, and report once
 * it has begun. They sleep through ticks if all events fit between two writes. What happened is drawn at random and told, so that a release can be compared with it.
 */
export async function runFleet(
  { server, task, devices, rate, operatorKey, helperKey }: FleetOptions,
  progress: (share: number) => void = () => {},
): Promise<FleetResult> {
  const manifest = await fetchManifest(server, task);
  const { ticks, tickSeconds, metrics, servers } = manifest;
  await sleep(secondsToWait(manifest, devices) * 1000);
  const { number: window, from } = windowFor(manifest);
  const start = Math.max(1000 * from, Date.now());
  const [first, helper] = servers;
  const keys = {
    operatorKey: operatorKey ?? first?.key ?? "",
    ...(helper && { helperKey: helperKey ?? helper.key }),
  };
  const options = { server, task, ...keys, window };
  const fleet = await inParallel(devices, () => enrolled(options, start));
  const end = 1000 * (from + ticks * tickSeconds);
  const together = ticksTogether(manifest);
  const counts = await inParallel(devices, async (i) => {
    const device = fleet[i] as FleetDevice;
    const count = new Map<string, number>();
    for (let tick = 1; device.now < end; tick++) {
      for (const { name } of metrics) {
        if (!happens(rate)) continue;
        device.lethe.record(name);
        count.set(name, (count.get(name) ?? 0) + 1);
      }
      device.now += 1000 * tickSeconds - (device.now % (1000 * tickSeconds));
      // Lets it notice what time it is, and write.
      if (device.now < end && tick % together === 0) await device.lethe.sendPending();
    }
    return count;
  });
  // Reports are accepted from the window's beginning on.
  await sleep(Math.max(0, 1000 * from - Date.now()));
  let sent = 0;
  await inParallel(devices, async (i) => {
    await report(fleet[i] as FleetDevice);
    progress(++sent / devices);
  });
  return { task, window, devices, truth: truthOf(manifest, counts) };
}

/**
 * After how many ticks a device of the fleet writes: there is no more than one event of a metric in a tick. Where events have no limit it
 * sleeps until the window ends, as an ElGamal write takes some ten milliseconds.
 */
function ticksTogether({ ticks, metrics }: Manifest): number {
  const limits = metrics.flatMap((metric) => ("eventsPerTick" in metric && metric.eventsPerTick) || []);
  return Math.min(ticks, ...limits);
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
