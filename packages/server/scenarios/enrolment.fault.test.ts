import { setTimeout as sleep } from "node:timers/promises";
import { encodeBase64url } from "@lethe/core/message";
import { expect, it } from "vitest";
import { hashOf } from "../dist/intake/token.js";
import type { Database } from "../dist/storage/database.js";
import { askToEnrol, type Device, enrol, fetchTask, inGroup, type KnownTask } from "../test/device.ts";
import { eventually } from "../test/eventually.ts";
import { MONTHS_TASK, processesOnPostgres, WINDOW } from "../test/processes.ts";
import { closeByHand, createTask } from "../test/service.ts";
import { type ServiceProcess, unlessGone } from "../test/service-process.ts";

const KILLS = 12;
const LONGEST_LIFE_MS = 400;
const DEVICES_AT_ONCE = 12;
const onEmptyDatabase = processesOnPostgres();

/** Every key that devices have is one device's alone, is stored with its token, and is not in the pool any more. */
async function requireEnrolledOnce(database: Database, devices: readonly Device[]): Promise<void> {
  const names = devices.map(({ id }) => encodeBase64url(id));
  expect(new Set(names).size).toBe(devices.length);
  expect(new Set(devices.map(({ publicKeys }) => encodeBase64url(publicKeys))).size).toBe(devices.length);
  const rows = await database.query<{ device: Uint8Array; hash: Uint8Array }>(
    "SELECT device, token_hash AS hash FROM devices",
  );
  const stored = new Map(rows.map(({ device, hash }) => [encodeBase64url(device), encodeBase64url(hash)]));
  for (const { id, token } of devices) expect(stored.get(encodeBase64url(id))).toBe(encodeBase64url(hashOf(token)));
  const [counts] = await database.query<{ enrolled: number; stored: number; spare: number }>(
    `SELECT (SELECT sum(enrolled)::int FROM (
         SELECT enrolled FROM windows UNION ALL SELECT enrolled FROM window_shards) AS counts) AS enrolled,
       (SELECT count(*) FROM devices) AS stored,
       (SELECT count(*) FROM devices JOIN spare_keys ON position(device IN devices) % 16 = 1) AS spare`,
  );
  expect(counts).toMatchObject({ enrolled: stored.size, spare: 0 });
}

/** Enrols devices at a process until it is gone. */
async function enrolWhileItLives(intake: ServiceProcess, task: KnownTask, enrolled: Device[]): Promise<void> {
  for (;;) {
    const device = await enrol(intake, task, WINDOW).catch(unlessGone);
    if (!device) return;
    enrolled.push(device);
  }
}

it("intakes that are killed with claimed keys lose no enrolment that they acknowledged, and no key goes to two devices", async () => {
  const processes = await onEmptyDatabase();
  const tally = await processes.start("tally");
  await createTask(tally, MONTHS_TASK);
  const task = await fetchTask(tally, MONTHS_TASK.task);
  const database = await processes.openDatabase();
  const enrolled: Device[] = [];
  const other = await processes.start("intake");
  const atOther = Array.from({ length: DEVICES_AT_ONCE }, () => enrolWhileItLives(other, task, enrolled));
  for (let kill = 0; kill < KILLS; kill++) {
    const intake = await processes.start("intake");
    const before = enrolled.length;
    const working = Array.from({ length: DEVICES_AT_ONCE }, () => enrolWhileItLives(intake, task, enrolled));
    await sleep(Math.random() * LONGEST_LIFE_MS);
    if (kill % 3 === 0) await eventually(async () => enrolled.length > before || undefined);
    await intake.kill();
    await Promise.all(working);
  }
  await other.kill();
  await Promise.all(atOther);
  expect(enrolled.length).toBeGreaterThan(KILLS);
  await requireEnrolledOnce(database, enrolled);
});

it("a window that closes while devices enrol has exactly those that were acknowledged, and takes no more", async () => {
  const processes = await onEmptyDatabase();
  const tally = await processes.start("tally");
  await createTask(tally, MONTHS_TASK);
  const task = await fetchTask(tally, MONTHS_TASK.task);
  const intakes = await Promise.all([processes.start("intake"), processes.start("intake")]);
  const enrolled: string[] = [];
  const refused: number[] = [];
  const enrolUntilClosed = async (intake: ServiceProcess): Promise<void> => {
    for (;;) {
      const response = await askToEnrol(intake, task.name, WINDOW, inGroup(task.manifest.groups?.[0]));
      const { device } = (await response.json()) as { device: string };
      if (response.status === 201) enrolled.push(device);
      else if (response.status !== 503) {
        refused.push(response.status);
        return;
      }
    }
  };
  const working = intakes.flatMap((intake) => Array.from({ length: 8 }, () => enrolUntilClosed(intake)));
  await eventually(async () => enrolled.length > 50 || refused.length > 0 || undefined);
  expect(refused).toEqual([]);
  expect((await closeByHand(tally, task.name, WINDOW)).status).toBe(200);
  await Promise.all(working);
  expect(new Set(refused)).toEqual(new Set([410]));
  const status = (await (await fetch(`${tally.url}/v1/tasks/${task.name}/windows/${WINDOW}`)).json()) as {
    enrolled: number;
  };
  expect(status.enrolled).toBe(enrolled.length);
});
