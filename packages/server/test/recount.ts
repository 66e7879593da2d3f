import { type Secret, secret, WINDOW_SECRET_BYTES } from "@lethe/core/encryption";
import { decodeBase64urlOf, encodeBase64url, keyContextOf, type Release, type Task } from "@lethe/core/message";
import { type Randomness, randomnessFrom, uniformBelow } from "@lethe/core/randomness";
import { expect } from "vitest";
import type { Queryable, SqlValue } from "../dist/storage/database.js";
import { mergeTallies, openTally } from "../dist/tally/sealed-tally.js";
import { type Device, enrol, type KnownTask, reportOf } from "./device.ts";
import { eventually } from "./eventually.ts";
import { readKeyFile, windowsIn } from "./key-file.ts";

/** A window of a year, so that nothing happens by the clock; with groups, so that every report has its place. */
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
  groups: ["north", "south"],
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

/** Enrols a device of one of the groups, to which some metrics happened. */
export async function makeReport(
  service: { readonly url: string; readonly operatorKey: string },
  task: KnownTask,
  window: number,
  seeded: Randomness,
): Promise<Sent> {
  const { groups } = task.manifest;
  const device = await enrol(service, task, window, {}, groups?.[uniformBelow(seeded, groups.length)]);
  const happened = task.manifest.metrics.map(({ name }) => name).filter(() => uniformBelow(seeded, 2) === 1);
  return { device, report: reportOf(device, ...happened), acknowledged: false };
}

/** The database of a service, or all of them. */
export type Stored = Queryable | readonly Queryable[];

/** The rows that all databases have together. */
async function rowsIn<Row>(stored: Stored, sql: string, values: readonly SqlValue[]): Promise<Row[]> {
  const databases = "query" in stored ? [stored] : stored;
  return (await Promise.all(databases.map((database) => database.query<Row>(sql, values)))).flat();
}

export async function countedOf(database: Stored, task: KnownTask, window: number): Promise<number> {
  return countedOfAll(await storedTally(database, task, window));
}

/** What the reports of a group, or all if there are no groups, add up to. */
export interface Recounted {
  readonly received: number;
  readonly sums: readonly number[];
}

/**
 * What is stored is what was sent, each report once, and the tally is made from it, each report in the group that its
 * device stated: the sums.
 */
export async function requireCountedOnce(
  database: Stored,
  keyFile: string,
  task: KnownTask,
  window: number,
  sent: readonly Sent[],
): Promise<Recounted[]> {
  const master = secretIn(keyFile, task, window);
  const recounted = await recount(database, master, task, window, sent);
  const shards = await storedTally(database, task, window);
  expect(countedOfAll(shards)).toBe(sent.length);
  const tally = mergeTallies(
    "sums",
    shards.map(({ sealed }) => openTally(master, sealed, "sums")),
  );
  expect(tally.sums).toEqual(recounted.map(({ sums }) => sums));
  expect(tally.received).toEqual(recounted.map(({ received }) => received));
  expect(await rowsOf(database, "uncounted", task.name, window)).toBe(0);
  return recounted;
}

function countedOfAll(shards: readonly { readonly counted: number }[]): number {
  return shards.reduce((sum, { counted }) => sum + counted, 0);
}

async function storedTally(
  database: Stored,
  task: KnownTask,
  window: number,
): Promise<{ counted: number; sealed: Uint8Array }[]> {
  const shards = await rowsIn<{ counted: number; sealed: Uint8Array }>(
    database,
    "SELECT counted, sealed FROM tallies JOIN windows ON window_id = id WHERE name = $1 AND number = $2",
    [task.name, window],
  );
  if (shards.length === 0) throw new TypeError("the window has no tally");
  return shards;
}

/** Opens what is stored, report by report, without any part of the service: the sums of each group. */
async function recount(
  database: Stored,
  master: Secret<Uint8Array>,
  task: KnownTask,
  window: number,
  sent: readonly Sent[],
): Promise<Recounted[]> {
  const rows = await rowsIn<{ device: Uint8Array; body: Uint8Array }>(
    database,
    "SELECT device, body FROM reports JOIN windows ON window_id = id WHERE name = $1 AND number = $2",
    [task.name, window],
  );
  const stored = new Map(rows.map(({ device, body }) => [encodeBase64url(device), body]));
  expect(rows).toHaveLength(sent.length);
  for (const { device, report } of sent) expect(stored.get(encodeBase64url(device.id))).toEqual(report);
  const counts = await rowsIn<{ received: number; enrolled: number; tokens: number }>(
    database,
    `SELECT sum(counts.received)::int AS received, sum(counts.enrolled)::int AS enrolled,
       (SELECT count(*) FROM devices WHERE window_id = windows.id) AS tokens
     FROM windows JOIN (
       SELECT id, received, enrolled FROM windows UNION ALL SELECT window_id, received, enrolled FROM window_shards
     ) AS counts ON counts.id = windows.id
     WHERE name = $1 AND number = $2 GROUP BY windows.id`,
    [task.name, window],
  );
  expect(counts.reduce((sum, { received }) => sum + received, 0)).toBe(sent.length);
  for (const { enrolled, tokens } of counts) expect(enrolled).toBe(tokens);

  const [part] = task.layout;
  if (!part) throw new TypeError("there is nothing to open");
  const groupOf = new Map(sent.map(({ device }) => [encodeBase64url(device.id), device.group]));
  const groups: readonly (string | undefined)[] = task.manifest.groups ?? [undefined];
  const answers = groups.map(() => [] as (readonly number[])[]);
  for (const { device, body } of rows) {
    const context = keyContextOf(part, { task: task.name, window, device, role: "tally" });
    const opened = part.server.open(master, context, body.subarray(body.length - part.device.bytes.report), random);
    expect(opened.valid).toBe(true);
    answers[groups.indexOf(groupOf.get(encodeBase64url(device)))]?.push(opened.answers);
  }
  return answers.map((each) => ({ received: each.length, sums: addedUp(each) }));
}

function addedUp(lists: readonly (readonly number[])[]): number[] {
  const [first = []] = lists;
  return first.map((_, i) => lists.reduce((sum, list) => sum + (list[i] as number), 0));
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

/** Checks that a release was made from these sums, and from this number of reports; each group of it too. */
export function requireReleased(
  release: Release,
  task: KnownTask,
  recounted: readonly Recounted[],
  reports: number,
): void {
  const requireFigures = (metrics: Release["metrics"], { sums, received }: Recounted): void => {
    const estimates = task.layout[0]?.server.estimate(sums, received).map(({ estimate }) => estimate);
    expect(metrics.map((metric) => ("buckets" in metric ? [] : metric.estimate))).toEqual(estimates);
  };
  const all = recounted.filter(({ received }) => received > 0);
  requireFigures(release.metrics, { received: reports, sums: addedUp(all.map(({ sums }) => sums)) });
  expect(release).toMatchObject({ status: "released", received: reports });
  for (const [i, group] of release.groups?.entries() ?? []) {
    expect(group).toMatchObject({ group: task.manifest.groups?.[i], received: recounted[i]?.received });
    if (group.status === "released") requireFigures(group.metrics, recounted[i] as Recounted);
  }
  expect(release.groups?.length).toBe(task.manifest.groups?.length);
}

/** Nothing that devices sent is left, nor anything that could open it. */
export async function requireErased(database: Stored, keyFile: string, task: KnownTask, window: number): Promise<void> {
  for (const table of ["reports", "uncounted", "devices", "spare_keys", "tallies"]) {
    expect({ table, rows: await rowsOf(database, table, task.name, window) }).toEqual({ table, rows: 0 });
  }
  expect(windowsIn(keyFile, task.name)).not.toContain(window);
}

async function rowsOf(database: Stored, table: string, task: string, window: number): Promise<number> {
  const found = await rowsIn<{ rows: number }>(
    database,
    `SELECT count(*) AS rows FROM ${table} JOIN windows ON window_id = windows.id WHERE name = $1 AND number = $2`,
    [task, window],
  );
  return found.reduce((sum, { rows }) => sum + rows, 0);
}
