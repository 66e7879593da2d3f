import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Randomness, seededRandomnessForTests, uniformBelow } from "@lethe/core/randomness";
import { expect } from "vitest";
import { openDataFolder } from "../dist/storage/data-folder.js";
import { fetchTask, type KnownTask, upload } from "./device.ts";
import { copyEmptyDatabase, unownedFolder } from "./folder.ts";
import {
  countedOf,
  makeReport,
  type Recounted,
  releaseOf,
  requireCountedOnce,
  requireErased,
  requireReleased,
  runningWindow,
  type Sent,
  YEAR_TASK,
} from "./recount.ts";
import { ADMIN_TOKEN, closeByHand, createTask } from "./service.ts";
import { type ServiceProcess, startServiceProcess, unlessGone } from "./service-process.ts";

const DEVICES_AT_ONCE = 12;
const LONGEST_LIFE_MS = 700;

export interface KillsResult {
  readonly kills: number;
  /** Kills while the window was closed and released. */
  readonly killsOfRelease: number;
  readonly reports: number;
  /** Uploads whose answer a kill took away. */
  readonly unanswered: number;
}

/**
 * Devices enrol and report, some of them again and again, while the service is killed at random moments of intake and
 * tally; then while it closes and releases the window. Every report that was acknowledged is stored once and counted
 * once, the tally equals a recount of what is stored, and the release is made from it.
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
  await createTask(service, YEAR_TASK);
  const task = await fetchTask(service, YEAR_TASK.task);
  const window = runningWindow(YEAR_TASK);
  const sent: Sent[] = [];
  let unanswered = 0;
  // On a machine so busy that no life was long enough for a report, a few more.
  for (let kill = 0; kill < kills || (sent.length === 0 && kill < 5 * kills); kill++) {
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
  for (let kill = 0; kill <= killsOfRelease; kill++) {
    service = await start();
    await closeByHand(service, task.name, window).catch(unlessGone);
    if (kill < killsOfRelease) await sleep(uniformBelow(random, 60)).then(service.kill);
  }
  requireReleased(await releaseOf(service, task, window), task, sums, sent.length);
  expect(await service.end()).toBe(0);
  const database = await openDataFolder(settings.data);
  await requireErased(database, settings.keyFile, task, window);
  await database.close();
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

/** Waits until everything is counted, looks into the data folder, and compares: the sums. */
async function countedAndRecounted(
  service: ServiceProcess,
  start: () => Promise<ServiceProcess>,
  settings: { data: string; keyFile: string },
  task: KnownTask,
  window: number,
  sent: readonly Sent[],
): Promise<Recounted[]> {
  for (let running = service; ; running = await start()) {
    await sleep(1000);
    expect(await running.end()).toBe(0);
    const database = await openDataFolder(settings.data);
    try {
      if ((await countedOf(database, task, window)) < sent.length) continue;
      return await requireCountedOnce(database, settings.keyFile, task, window, sent);
    } finally {
      await database.close();
    }
  }
}
