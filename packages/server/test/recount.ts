import { type Secret, secret, WINDOW_SECRET_BYTES } from "@lethe/core/encryption";
import { decodeBase64urlOf, encodeBase64url, keyContextOf, type Release, type Task } from "@lethe/core/message";
import { type Randomness, randomnessFrom, uniformBelow } from "@lethe/core/randomness";
import { expect } from "vitest";
import type { Queryable } from "../dist/storage/database.js";
import { openTally } from "../dist/tally/sealed-tally.js";
import { type Device, enrol, type KnownTask, reportOf } from "./device.ts";
import { eventually } from "./eventually.ts";
import { readKeyFile, windowsIn } from "./key-file.ts";

/** A window of a year, so that nothing happens by the clock. */
export const YEAR_TASK: Task = {
  version: 1,
  task: "kills",
  tickSeconds: 2_678_400,
  ticks: 12,
  hides: 12,
  graceSeconds: 0,
  mode: "one-server",
  scheme: "lattice",
  minimumDevices: 1,
  metrics: [
    { name: "first", statistic: "occurrence", localEpsilon: 1 },
    { name: "second", statistic: "occurrence", localEpsilon: 1 },
    { name: "third", statistic: "occurrence", localEpsilon: 1 },
  ],
};

export interface Sent {
  readonly device: Device;
  readonly report: Uint8Array;
  acknowledged: boolean;
}

const random: Randomness = randomnessFrom(globalThis.crypto);

export function runningWindow({ ticks, tickSeconds }: Task): number {
  return Math.floor(Date.now() / 1000 / (ticks * tickSeconds));
}

/** Enrols a device, to which some metrics happened. */
export async function makeReport(
  service: { readonly url: string; readonly operatorKey: string },
  task: KnownTask,
  window: number,
  seeded: Randomness,
): Promise<Sent> {
  const device = await enrol(service, task, window);
  const happened = task.manifest.metrics.map(({ name }) => name).filter(() => uniformBelow(seeded, 2) === 1);
  return { device, report: reportOf(device, ...happened), acknowledged: false };
}

export async function countedOf(database: Queryable, task: KnownTask, window: number): Promise<number> {
  return (await storedTally(database, task, window)).counted;
}

/** What is stored is what was sent, each report once, and the tally is made from it: the sums. */
export async function requireCountedOnce(
  database: Queryable,
  keyFile: string,
  task: KnownTask,
  window: number,
  sent: readonly Sent[],
): Promise<number[]> {
  const master = secretIn(keyFile, task, window);
  const recounted = await recount(database, master, task, window, sent);
  const { counted, sealed } = await storedTally(database, task, window);
  expect(counted).toBe(sent.length);
  expect(openTally(master, sealed, "sums").sums).toEqual([recounted]);
  expect(await rowsOf(database, "uncounted", task.name, window)).toBe(0);
  return recounted;
}

async function storedTally(
  database: Queryable,
  task: KnownTask,
  window: number,
): Promise<{ counted: number; sealed: Uint8Array }> {
  const [tally] = await database.query<{ counted: number; sealed: Uint8Array }>(
    "SELECT counted, sealed FROM tallies JOIN windows ON window_id = id WHERE name = $1 AND number = $2",
    [task.name, window],
  );
  if (!tally) throw new TypeError("the window has no tally");
  return tally;
}

/** Opens what is stored, report by report, without any part of the service. */
async function recount(
  database: Queryable,
  master: Secret<Uint8Array>,
  task: KnownTask,
  window: number,
  sent: readonly Sent[],
): Promise<number[]> {
  const rows = await database.query<{ device: Uint8Array; body: Uint8Array }>(
    "SELECT device, body FROM reports JOIN windows ON window_id = id WHERE name = $1 AND number = $2",
    [task.name, window],
  );
  const stored = new Map(rows.map(({ device, body }) => [encodeBase64url(device), body]));
  expect(rows).toHaveLength(sent.length);
  for (const { device, report } of sent) expect(stored.get(encodeBase64url(device.id))).toEqual(report);
  const [counts] = await database.query<{ received: number; enrolled: number; tokens: number }>(
    `SELECT received, enrolled, (SELECT count(*) FROM devices WHERE window_id = id) AS tokens
     FROM windows WHERE name = $1 AND number = $2`,
    [task.name, window],
  );
  expect(counts?.received).toBe(sent.length);
  expect(counts?.enrolled).toBe(counts?.tokens);

  const [part] = task.layout;
  if (!part) throw new TypeError("there is nothing to open");
  const sums = part.metrics.map(() => 0);
  for (const { device, body } of rows) {
    const context = keyContextOf(part, { task: task.name, window, device, role: "tally" });
    const opened = part.server.open(master, context, body.subarray(body.length - part.device.bytes.report), random);
    expect(opened.valid).toBe(true);
    for (const [i, answer] of opened.answers.entries()) sums[i] = (sums[i] ?? 0) + answer;
  }
  return sums;
}

function secretIn(path: string, task: KnownTask, window: number): Secret<Uint8Array> {
  const text = readKeyFile(path).windows[`${task.name}/${window}`] ?? "";
  return secret(decodeBase64urlOf("a window's secret", WINDOW_SECRET_BYTES, text));
}

export function releaseOf(service: { readonly url: string }, task: KnownTask, window: number): Promise<Release> {
  return eventually(async () => {
    const response = await fetch(`${service.url}/v1/tasks/${task.name}/releases/${window}`);
    return response.status === 200 ? ((await response.json()) as Release) : undefined;
  });
}

/** Checks that a release was made from these sums, and from this number of reports. */
export function requireReleased(release: Release, task: KnownTask, sums: readonly number[], reports: number): void {
  const [part] = task.layout;
  const estimates = part?.server.estimate(sums, reports).map(({ estimate }) => estimate);
  expect(release.metrics.map((metric) => ("buckets" in metric ? [] : metric.estimate))).toEqual(estimates);
  expect(release).toMatchObject({ status: "released", received: reports });
}

/** Nothing that devices sent is left, nor anything that could open it. */
export async function requireErased(
  database: Queryable,
  keyFile: string,
  task: KnownTask,
  window: number,
): Promise<void> {
  for (const table of ["reports", "uncounted", "devices", "spare_keys", "tallies"]) {
    expect({ table, rows: await rowsOf(database, table, task.name, window) }).toEqual({ table, rows: 0 });
  }
  expect(windowsIn(keyFile, task.name)).not.toContain(window);
}

async function rowsOf(database: Queryable, table: string, task: string, window: number): Promise<number> {
  const [found] = await database.query<{ rows: number }>(
    `SELECT count(*) AS rows FROM ${table} JOIN windows ON window_id = windows.id WHERE name = $1 AND number = $2`,
    [task, window],
  );
  return found?.rows ?? 0;
}
