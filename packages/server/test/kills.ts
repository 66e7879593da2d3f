import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Secret } from "@lethe/core/encryption";
import { encodeBase64url, keyContextOf, type Release, type Task } from "@lethe/core/message";
import { type Randomness, randomnessFrom, seededRandomnessForTests, uniformBelow } from "@lethe/core/randomness";
import { expect } from "vitest";
import { openDataFolder } from "../dist/storage/data-folder.js";
import type { Database } from "../dist/storage/database.js";
import { openKeyFile } from "../dist/tally/key-file.js";
import { openTally } from "../dist/tally/sealed-tally.js";
import { type Device, enrol, fetchTask, type KnownTask, reportOf, upload } from "./device.ts";
import { eventually } from "./eventually.ts";
import { copyEmptyDatabase, unownedFolder } from "./folder.ts";
import { ADMIN_TOKEN } from "./service.ts";
import { type ServiceProcess, startServiceProcess } from "./service-process.ts";

/** A window of a year, so that nothing happens by the clock. */
const TASK: Task = {
  version: 1,
  task: "kills",
  tickSeconds: 2_678_400,
  ticks: 12,
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

const DEVICES_AT_ONCE = 12;
const LONGEST_LIFE_MS = 700;

interface Sent {
  readonly device: Device;
  readonly report: Uint8Array;
  acknowledged: boolean;
}

export interface KillsResult {
  readonly kills: number;
  /** Kills while the window was closed and released. */
  readonly killsOfRelease: number;
  readonly reports: number;
  /** Uploads whose answer a kill took away. */
  readonly unanswered: number;
}

/**
 * Devices enrol and report, some of them again and again, while the service is killed at random moments of intake and tally;
 * then while it closes and releases the window. Every report that was acknowledged is stored once and counted once, the tally
 * equals a recount of what is stored, and the release is made from it.
 */
export async function surviveKills(kills: number, seed: string): Promise<KillsResult> {
  const folder = unownedFolder();
  const settings = {
    data: join(folder, "data"),
    keyFile: join(folder, "keys"),
    adminToken: ADMIN_TOKEN,
    host: "127.0.0.1",
    port: 0,
    threads: 1,
    keysAhead: 40,
  };
  await copyEmptyDatabase(settings.data);
  const random = seededRandomnessForTests(seed);
  const start = (): Promise<ServiceProcess> => startServiceProcess(settings);

  let service = await start();
  await admin(service, "/v1/tasks", TASK);
  const task = await fetchTask(service, TASK.task);
  const window = Math.floor(Date.now() / 1000 / (TASK.ticks * TASK.tickSeconds));
  const sent: Sent[] = [];
  let unanswered = 0;
  for (let kill = 0; kill < kills; kill++) {
    const life = uniformBelow(random, LONGEST_LIFE_MS);
    const [lost] = await Promise.all([
      sendWhileItLives(service, task, window, sent, random),
      sleep(life).then(service.kill),
    ]);
    unanswered += lost;
    service = await start();
  }

  for (const { device, report, acknowledged } of sent) {
    const { status } = await upload(service, device, report);
    expect(acknowledged ? [200] : [200, 201]).toContain(status);
  }
  const sums = await countedAndRecounted(service, start, settings, task, window, sent);

  const killsOfRelease = Math.ceil(kills / 4);
  let release: Release | undefined;
  for (let kill = 0; kill <= killsOfRelease; kill++) {
    service = await start();
    await admin(service, `/v1/tasks/${TASK.task}/windows/${window}/close`).catch(() => undefined);
    if (kill === killsOfRelease) release = await releaseOf(service, window);
    else await sleep(uniformBelow(random, 60)).then(service.kill);
  }
  expect(await service.end()).toBe(0);
  const [part] = task.layout;
  const estimates = part?.server.estimate(sums, sent.length).map(({ estimate }) => estimate);
  expect(release?.metrics.map((metric) => (metric.statistic === "histogram" ? [] : metric.estimate))).toEqual(
    estimates,
  );
  expect(release).toMatchObject({ status: "released", received: sent.length });
  await requireErased(settings, window);
  rmSync(folder, { recursive: true, force: true });
  return { kills, killsOfRelease, reports: sent.length, unanswered };
}

/** Enrols and uploads until the service is gone; how many uploads nobody answered. */
async function sendWhileItLives(
  service: ServiceProcess,
  task: KnownTask,
  window: number,
  sent: Sent[],
  random: Randomness,
): Promise<number> {
  let unanswered = 0;
  const worker = async (): Promise<void> => {
    for (;;) {
      const again = sent[uniformBelow(random, 2 * sent.length + 1)];
      const next = again ?? (await makeReport(service, task, window, random));
      if (!again) sent.push(next);
      try {
        const { status } = await upload(service, next.device, next.report);
        expect(again?.acknowledged ? [200] : [200, 201]).toContain(status);
        next.acknowledged = true;
      } catch (error) {
        // The connection broke; anything else is a finding.
        if (!(error instanceof TypeError)) throw error;
        unanswered++;
        return;
      }
    }
  };
  const workers = Array.from({ length: DEVICES_AT_ONCE }, () => worker().catch(unlessGone));
  await Promise.all(workers);
  return unanswered;
}

/** `fetch` fails with a TypeError when nobody answers. */
function unlessGone(error: unknown): void {
  if (!(error instanceof TypeError)) throw error;
}

async function makeReport(service: ServiceProcess, task: KnownTask, window: number, random: Randomness): Promise<Sent> {
  const device = await enrol(service, task, window);
  const happened = TASK.metrics.map(({ name }) => name).filter(() => uniformBelow(random, 2) === 1);
  return { device, report: reportOf(device, ...happened), acknowledged: false };
}

/** Waits until everything is counted, looks into the data folder, and compares: the sums. */
async function countedAndRecounted(
  service: ServiceProcess,
  start: () => Promise<ServiceProcess>,
  settings: { data: string; keyFile: string },
  task: KnownTask,
  window: number,
  sent: readonly Sent[],
): Promise<number[]> {
  for (let running = service; ; running = await start()) {
    await sleep(1000);
    expect(await running.end()).toBe(0);
    const database = await openDataFolder(settings.data);
    try {
      const [tally] = await database.query<{ counted: number; sealed: Uint8Array }>(
        "SELECT counted, sealed FROM tallies JOIN windows ON window_id = id WHERE name = $1 AND number = $2",
        [task.name, window],
      );
      if (tally && tally.counted < sent.length) continue;
      const master = secretIn(settings.keyFile, task.name, window);
      const recounted = await recount(database, master, task, window, sent);
      expect(tally?.counted).toBe(sent.length);
      expect(openTally(master, tally?.sealed ?? new Uint8Array()).sums).toEqual([recounted]);
      return recounted;
    } finally {
      await database.close();
    }
  }
}

/** Opens what is stored, report by report, without any part of the service. */
async function recount(
  database: Database,
  master: Secret<Uint8Array>,
  task: KnownTask,
  window: number,
  sent: readonly Sent[],
): Promise<number[]> {
  const rows = await database.query<{ device: Uint8Array; body: Uint8Array }>("SELECT device, body FROM reports");
  const stored = new Map(rows.map(({ device, body }) => [encodeBase64url(device), body]));
  expect(rows).toHaveLength(sent.length);
  for (const { device, report } of sent) expect(stored.get(encodeBase64url(device.id))).toEqual(report);
  const [counts] = await database.query<{ received: number; enrolled: number; tokens: number }>(
    `SELECT received, enrolled, (SELECT count(*) FROM devices WHERE window_id = id AND token_hash IS NOT NULL) AS tokens
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

function secretIn(path: string, task: string, window: number): Secret<Uint8Array> {
  const keys = openKeyFile(path);
  const found = keys.windowSecret(task, window);
  keys.close();
  if (!found) throw new TypeError("there is no secret for the window");
  return found;
}

const random: Randomness = randomnessFrom(globalThis.crypto);

async function admin(service: ServiceProcess, path: string, body?: Task): Promise<void> {
  const response = await fetch(service.url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  expect(response.status).toBeLessThan(300);
}

function releaseOf(service: ServiceProcess, window: number): Promise<Release> {
  return eventually(async () => {
    const response = await fetch(`${service.url}/v1/tasks/${TASK.task}/releases/${window}`);
    return response.status === 200 ? ((await response.json()) as Release) : undefined;
  });
}

async function requireErased(settings: { data: string; keyFile: string }, window: number): Promise<void> {
  const database = await openDataFolder(settings.data);
  const [left] = await database.query<{ reports: number }>("SELECT count(*) AS reports FROM reports");
  await database.close();
  expect(left?.reports).toBe(0);
  const keys = openKeyFile(settings.keyFile);
  expect(keys.windowSecret(TASK.task, window)).toBeUndefined();
  keys.close();
}
