import { fork } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type Enrolment,
  encodeBase64url,
  encodeReport,
  type Manifest,
  parseEnrolment,
  type Task,
} from "@lethe/core/message";
import { windowFor } from "../fleet/fleet.ts";
import { inParallel } from "../parallel/in-parallel.ts";
import type { Load, LoadResult } from "./load-client.ts";

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

/** A device with its keys, in the window that it may report in. */
interface Enrolled {
  readonly window: number;
  readonly enrolment: Enrolment;
}

/** Enrols devices, and waits for keys as long as the service makes them. */
export function enrolAll(url: string, manifest: Manifest, devices: number): Promise<Enrolled[]> {
  const { number: window } = windowFor(manifest);
  const path = `${url}/v1/tasks/${manifest.task}/windows/${window}/devices`;
  const enrol = async (): Promise<Enrolled> => {
    for (;;) {
      const response = await fetch(path, { method: "POST" });
      if (response.status === 201) return { window, enrolment: parseEnrolment(await response.text()) };
      // The service makes keys as fast as it can.
      await sleep(100);
    }
  };
  return inParallel(devices, enrol, 64);
}

/** Uploads with honest headers and random ciphertexts, which an intake takes for honest reports. */
export function loadOf(devices: readonly Enrolled[], bytes: number): Omit<Load, "ports"> {
  const [first] = devices as [Enrolled];
  const header = encodeReport(first.enrolment.manifestHash, []);
  const requests = devices.map(({ window, enrolment: { device, uploadToken } }) => ({
    path: `/v1/tasks/${TASK.task}/windows/${window}/reports/${encodeBase64url(device)}`,
    token: uploadToken,
  }));
  return { connections: CONNECTIONS, requests, bytes, header };
}

/**
 * Sends a load from another process; how many requests per second it sent. Rejects if one was not answered with 201.
 */
export function run(load: Load): Promise<number> {
  return new Promise((resolve, reject) => {
    const client = fork(new URL("./load-client.js", import.meta.url), { serialization: "advanced" });
    client.on("error", reject);
    client.on("message", ({ seconds, statuses }: LoadResult) => {
      const good = statuses[201] ?? 0;
      if (good === load.requests.length) resolve(good / seconds);
      else reject(new Error(`the service answered ${JSON.stringify(statuses)}`));
    });
    client.send(load);
  });
}

/**
 * Waits until the processes have counted `reports` more than `before`, all together. How many per second, from when the
 * first were counted.
 */
export async function countingRate(urls: readonly string[], before: number, reports: number): Promise<number> {
  const read = async (url: string): Promise<number> => {
    const text = await (await fetch(`${url}/metrics`)).text();
    return Number(/^lethe_reports_counted_total (.*)$/m.exec(text)?.[1] ?? 0);
  };
  const readAll = async (): Promise<number> => (await Promise.all(urls.map(read))).reduce((sum, n) => sum + n, 0);
  let first: { at: number; counted: number } | undefined;
  for (;;) {
    const counted = await readAll();
    if (counted > before) first ??= { at: performance.now(), counted };
    if (first && counted === before + reports)
      return (counted - first.counted) / ((performance.now() - first.at) / 1000);
    await sleep(20);
  }
}
