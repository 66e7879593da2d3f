import { fork } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { decodeBase64url, encodeReport, type Manifest, type Task } from "@lethe/core/message";
import { windowFor } from "../fleet/fleet.ts";
import type { Load, LoadResult, Uploads } from "./load-client.ts";

const COUNTERS = 1000;
const CONNECTIONS = 512;

/** One thousand counters in a window that does not end while we measure. */
export const TASK: Task = {
  version: 1,
  task: "bench",
  tickSeconds: 2_678_400,
  ticks: 288,
  hides: 1000,
  graceSeconds: 0,
  mode: "one-server",
  scheme: "lattice",
  minimumDevices: 1,
  metrics: Array.from({ length: COUNTERS }, (_, i) => ({
    name: `counter-${i}`,
    statistic: "occurrence",
    localEpsilon: 1,
  })),
};

/** How much is sent. */
export interface LoadSize {
  /** In each round. */
  readonly uploads: number;
  /** Rounds that count. */
  readonly rounds: number;
  /** Rounds before these, which do not count. */
  readonly warmUp: number;
}

/** Devices that enrolled in a window, and how many did per second. */
export interface Enrolled {
  readonly window: number;
  /** The answers that they got. */
  readonly answers: readonly string[];
  readonly rate: number;
  /** Bytes per device: of requests, and of answers. */
  readonly sent: number;
  readonly received: number;
}

/** Enrols devices at the processes with these ports; all of them, however long the keys take. */
export async function enrolAll(ports: readonly number[], manifest: Manifest, count: number): Promise<Enrolled> {
  const { number: window } = windowFor(manifest);
  const path = `/v1/tasks/${manifest.task}/windows/${window}/devices`;
  const load: Load = { kind: "enrolments", path, count, ports, connections: CONNECTIONS };
  const { seconds, bodies: answers, sent, received } = await send(load);
  return { window, answers, rate: count / seconds, sent: sent / count, received: received / count };
}

/** Uploads with honest headers and random ciphertexts, which an intake takes for honest reports. */
export function loadOf(
  { window, answers }: Pick<Enrolled, "window" | "answers">,
  bytes: number,
): Uploads & Pick<Load, "connections"> {
  // Without their keys, whose checks would take longer than the load.
  const devices = answers.map((text) => JSON.parse(text) as Record<"device" | "uploadToken" | "manifestHash", string>);
  const header = encodeReport(decodeBase64url("the hash", devices[0]?.manifestHash ?? ""), []);
  const requests = devices.map(({ device, uploadToken }) => ({
    path: `/v1/tasks/${TASK.task}/windows/${window}/reports/${device}`,
    token: uploadToken,
  }));
  return { kind: "uploads", connections: CONNECTIONS, requests, bytes, header };
}

/** Sends a load; how many requests per second it sent. Rejects if one was not answered with 201. */
export async function run(load: Load & Uploads): Promise<number> {
  return load.requests.length / (await send(load)).seconds;
}

/** Sends a load from another process, and says how it went. Rejects if a request was not answered with 201. */
export function send(load: Load): Promise<LoadResult> {
  return new Promise((resolve, reject) => {
    const client = fork(new URL("./load-client.js", import.meta.url), { serialization: "advanced" });
    client.on("error", reject);
    client.on("message", (result: LoadResult) => {
      const others = Object.keys(result.statuses).filter((status) => status !== "201");
      if (others.length === 0) resolve(result);
      else reject(new Error(`the service answered ${JSON.stringify(result.statuses)}`));
    });
    client.send(load);
  });
}

/** How many reports these processes have counted so far, all together. */
export async function countedBy(urls: readonly string[]): Promise<number> {
  const each = await Promise.all(urls.map((url) => readMetric(url, "lethe_reports_counted_total")));
  return each.reduce((sum, n) => sum + n, 0);
}

/** A metric of a process; 0 if it has none of this name. */
export async function readMetric(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(new RegExp(`^${name} (.*)$`, "m").exec(text)?.[1] ?? 0);
}

/**
 * Waits until the processes have counted `reports` more than `before`, all together. How many per second, from when the
 * first were counted.
 */
export async function countingRate(urls: readonly string[], before: number, reports: number): Promise<number> {
  let first: { at: number; counted: number } | undefined;
  for (;;) {
    const counted = await countedBy(urls);
    if (counted > before) first ??= { at: performance.now(), counted };
    if (first && counted === before + reports)
      return (counted - first.counted) / ((performance.now() - first.at) / 1000);
    await sleep(20);
  }
}
