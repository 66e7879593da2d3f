import { fork, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import {
  type Enrolment,
  encodeBase64url,
  encodeReport,
  type Manifest,
  parseEnrolment,
  type Task,
} from "@lethe/core/message";
import { windowFor } from "../fleet.ts";
import { inParallel } from "../parallel/in-parallel.ts";
import type { Load, LoadResult } from "./load-client.ts";

const COUNTERS = 1000;
const CONNECTIONS = 512;
export const TOKEN = "a-token-for-the-bench";

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

/** How much is sent: so many uploads at a time, so many times, and before that a few times that do not count. */
export interface LoadSize {
  readonly uploads: number;
  readonly rounds: number;
  readonly warmUp: number;
}

/** A process of the service. */
export interface Lethe {
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

const NO_LIMITS = ["--enrolment-rate", "1000000", "--enrolment-burst", "1000000", "--most-per-address", "1000000"];

/** `lethe serve` as an operator runs it, in a process of its own. */
export async function startLethe(options: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Lethe> {
  const lethe = fileURLToPath(new URL("../../../cli/bin/lethe.js", import.meta.url));
  const { DATABASE_URL, ...others } = process.env;
  const child = spawn(lethe, ["serve", "--port", "0", "--json", ...NO_LIMITS, ...options], {
    env: { ...others, LETHE_ADMIN_TOKEN: TOKEN, ...env },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  const { url } = JSON.parse(line) as { url: string };
  return {
    url,
    port: Number(new URL(url).port),
    close: async () => {
      child.kill("SIGTERM");
      await once(child, "exit");
    },
  };
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return ((sorted[(sorted.length - 1) >> 1] as number) + (sorted[sorted.length >> 1] as number)) / 2;
}

interface Enrolled {
  readonly window: number;
  readonly enrolment: Enrolment;
}

export function enrolAll(url: string, manifest: Manifest, devices: number): Promise<Enrolled[]> {
  const { number: window } = windowFor(manifest);
  const path = `${url}/v1/tasks/${manifest.task}/windows/${window}/devices`;
  const enrol = async (): Promise<Enrolled> => {
    for (;;) {
      const response = await fetch(path, { method: "POST" });
      if (response.status === 201) return { window, enrolment: parseEnrolment(await response.text()) };
      // Keys are made as fast as they can be.
      await sleep(100);
    }
  };
  return inParallel(devices, enrol, 64);
}

/** Honest headers and random ciphertexts: intake cannot tell. */
export function loadOf(devices: readonly Enrolled[], bytes: number): Omit<Load, "ports"> {
  const [first] = devices as [Enrolled];
  const header = encodeReport(first.enrolment.manifestHash, []);
  const requests = devices.map(({ window, enrolment: { device, uploadToken } }) => ({
    path: `/v1/tasks/${TASK.task}/windows/${window}/reports/${encodeBase64url(device)}`,
    token: uploadToken,
  }));
  return { connections: CONNECTIONS, requests, bytes, header };
}

/** Requests a second, all of which were answered as expected. */
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

/** Watches processes until they have counted so many reports more together: how many a second, from when the first are. */
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
