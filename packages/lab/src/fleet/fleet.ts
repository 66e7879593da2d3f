/**
 * A fleet of devices with the SDK against a running service: `lethe simulate --server`, and the demonstration with two
 * servers. `progress.ts` adds up how far its devices are, `truth.ts` computes the figures that a release should come
 * near to. Imports core, the SDK, the analyst's client, `parallel` and `simulate`. Start with `runFleet`.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { fetchManifest, type Truth } from "@lethe/analyst";
import { LetheError } from "@lethe/core/error";
import { beginningOf, eventsOf, type Manifest, windowAt, windowSeconds } from "@lethe/core/message";
import { type Randomness, randomnessFrom, uniformBelow } from "@lethe/core/randomness";
import type { StreamEvent } from "@lethe/core/statistic";
import { type Lethe, type LetheOptions, openLethe } from "@lethe/device";
import { inParallel } from "../parallel/in-parallel.ts";
import { countProgress, type FleetProgress } from "./progress.ts";
import { truthOf } from "./truth.ts";

/** Where a fleet reports, and what happens on its devices. */
export interface FleetOptions {
  readonly server: string;
  readonly task: string;
  readonly devices: number;
  /** In each tick each device has an event of each name with this probability. */
  readonly rate: number;
  /** The key that devices pin, as an application would. If absent, the fleet trusts the key of the manifest. */
  readonly operatorKey?: string;
  /** The same for the helper of a task with two servers. */
  readonly helperKey?: string;
}

/** What happened on a fleet in one window. */
export interface FleetResult {
  readonly task: string;
  readonly window: number;
  readonly devices: number;
  readonly truth: readonly Truth[];
  /** The same for each group, if the task has groups. */
  readonly groups?: readonly { readonly group: string; readonly devices: number; readonly truth: readonly Truth[] }[];
}

const random: Randomness = randomnessFrom(globalThis.crypto);

/** True with this probability. */
export function happens(rate: number): boolean {
  return uniformBelow(random, 2 ** 32) < rate * 2 ** 32;
}

/** If less than this is left of a window, a fleet takes the next one. */
const LEAST_SECONDS_LEFT = 60;

/** The running window, or the next one if the running one is about to end; and when it begins, in Unix seconds. */
export function windowFor(manifest: Manifest): { number: number; from: number } {
  const now = Date.now() / 1000;
  const number = Math.min(windowAt(manifest, now + LEAST_SECONDS_LEFT), windowAt(manifest, now) + 1);
  return { number, from: beginningOf(manifest, number) };
}

/** This many devices enrol in well under a second. */
const FEW = 20;

/**
 * In the short windows of a service in development, many devices start to enrol at the beginning of a window, to be in
 * time.
 */
function secondsToWait(manifest: Manifest, devices: number): number {
  const seconds = windowSeconds(manifest);
  return devices > FEW && seconds < LEAST_SECONDS_LEFT ? seconds - ((Date.now() / 1000) % seconds) : 0;
}

const MOST_TRIES = 20;

/**
 * Runs devices with the SDK through one window. They enrol over HTTP in the running window or the next one, live
 * through it on their own fast clocks, and report once it has begun. They skip writes as long as all events fit between
 * two writes. Events are drawn at random, and the true figures are returned, to compare a release with. If the task has
 * groups, the devices are in them in turn. `watch` is called whenever the fleet has got further.
 */
export async function runFleet(
  { server, task, devices, rate, operatorKey, helperKey }: FleetOptions,
  watch: (progress: FleetProgress) => void = () => {},
): Promise<FleetResult> {
  const manifest = await fetchManifest(server, task);
  const { ticks, tickSeconds, servers, groups } = manifest;
  const events = eventsOf(manifest);
  await sleep(secondsToWait(manifest, devices) * 1000);
  const { number: window, from } = windowFor(manifest);
  const start = Math.max(1000 * from, Date.now());
  const [leader, helper] = servers;
  const keys = {
    operatorKey: operatorKey ?? leader?.key ?? "",
    ...(helper && { helperKey: helperKey ?? helper.key }),
  };
  const options = { server, task, ...keys, window };
  const groupOf = (i: number): { group?: string } => (groups ? { group: groups[i % groups.length] as string } : {});
  const first = Math.floor((start - 1000 * from) / (1000 * tickSeconds));
  const progress = countProgress({ window, devices, first }, events, watch);
  const fleet = await inParallel(devices, (i) => enrolled({ ...options, ...groupOf(i) }, start));
  const end = 1000 * (from + ticks * tickSeconds);
  const together = ticksTogether(manifest);
  const streams = await inParallel(devices, async (i) => {
    const device = fleet[i] as FleetDevice;
    const stream: StreamEvent[] = [];
    for (let tick = 1; device.now < end; tick++) {
      for (const event of events) {
        if (!happens(rate)) continue;
        device.lethe.record(event);
        progress.happened(event);
        stream.push({ event, tick: Math.floor((device.now - 1000 * from) / (1000 * tickSeconds)) });
      }
      device.now += 1000 * tickSeconds - (device.now % (1000 * tickSeconds));
      // Lets the device see the time, and write.
      if (device.now < end && tick % together === 0) await device.lethe.sendPending();
      progress.ticked();
    }
    return stream;
  });
  // Reports are accepted from the window's beginning on.
  await sleep(Math.max(0, 1000 * from - Date.now()));
  await inParallel(devices, async (i) => {
    await report(fleet[i] as FleetDevice);
    progress.reported();
  });
  const truthIn = (group: string) => {
    const own = streams.filter((_, i) => groupOf(i).group === group);
    return { group, devices: own.length, truth: truthOf(manifest, own) };
  };
  return {
    task,
    window,
    devices,
    truth: truthOf(manifest, streams),
    ...(groups && { groups: groups.map(truthIn) }),
  };
}

/**
 * After how many ticks a device of the fleet writes. A metric has at most one event in a tick. Where events have no
 * limit the device writes at the end of the window only, because an ElGamal write takes some ten milliseconds.
 */
function ticksTogether({ ticks, metrics }: Manifest): number {
  const limits = metrics.flatMap((metric) => ("eventsPerTick" in metric && metric.eventsPerTick) || []);
  return Math.min(ticks, ...limits);
}

interface FleetDevice {
  readonly lethe: Lethe;
  /** The time on its clock, in Unix milliseconds. */
  now: number;
  hasReported: boolean;
  problem: LetheError | undefined;
}

/** Opens a device that enrols in this window and in no other, and waits until it counts. */
async function enrolled(
  {
    window,
    ...options
  }: Pick<LetheOptions, "server" | "task" | "operatorKey" | "helperKey" | "group"> & {
    window: number;
  },
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

/** Tries again while the service is only busy. */
async function untilDone(device: FleetDevice, isDone: () => boolean): Promise<void> {
  for (let tries = 0; ; tries++) {
    await device.lethe.sendPending();
    if (isDone()) return;
    const isOver = device.problem?.code === "window-closed" || device.problem?.code === "bad-signature";
    if (isOver || tries === MOST_TRIES) {
      throw device.problem ?? new LetheError("unreachable", "the service does not take what devices send");
    }
    await sleep(100 * (tries + 1));
    // The SDK waits by its own clock before it tries again.
    device.now += 1000;
  }
}
