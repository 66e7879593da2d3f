import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { afterAll, beforeAll, beforeEach, expect, inject, it } from "vitest";
import { eventually } from "../../test/eventually.ts";
import { unownedFolder } from "../../test/folder.ts";
import { createStore, type Store } from "../../test/store.ts";
import type { Database } from "./database.ts";
import { addDevices, type NewDevice } from "./devices.ts";
import { addReports } from "./reports.ts";
import { addTask } from "./tasks.ts";
import { lockShard } from "./window-shards.ts";
import { addRefusals, addWindow, closeWindow, readWindow, refusalsOf, watchUnfinished } from "./windows.ts";

const folder = unownedFolder();
let store: Store;
let database: Database;
let windowId: number;
let windows = 0;
beforeAll(async () => {
  store = await createStore(folder);
  database = await store.open();
  await addTask(database, { name: "task", version: 1, fromWindow: 0, manifest: "{}", signature: randomBytes(64) });
});
beforeEach(async () => {
  const [task] = await database.query<{ id: number }>("SELECT id FROM tasks");
  const commitment = new Uint8Array(32);
  windowId = await addWindow(database, { taskId: task?.id ?? 0, name: "task", number: windows++, commitment });
});
afterAll(async () => {
  await database.close();
  await store.remove();
  rmSync(folder, { recursive: true });
});

const MANY = 1e6;

function newDevices(count: number): NewDevice[] {
  return Array.from({ length: count }, () => ({
    device: new Uint8Array(randomBytes(16)),
    tokenHash: new Uint8Array(randomBytes(32)),
    group: 0,
  }));
}

const withReports = (devices: readonly NewDevice[]) => devices.map((each) => ({ ...each, body: Uint8Array.of(1, 2) }));

/** Enrols devices in a shard, and stores a report of each. */
function countIn(shard: number, devices: readonly NewDevice[]): Promise<boolean> {
  return database.transaction(async (transaction) => {
    if (!(await lockShard(transaction, windowId, shard))) return false;
    expect(await addDevices(transaction, windowId, shard, MANY, devices)).toBe(devices.length);
    expect(await addReports(transaction, windowId, shard, withReports(devices))).toHaveLength(devices.length);
    return true;
  });
}

it("what many count at once, each in a shard, is added up exactly, before and after the window closes", async () => {
  const sizes = [1, 5, 2, 7, 3, 4, 6, 1];
  await Promise.all(sizes.map((size, shard) => countIn(shard % 4, newDevices(size))));
  const total = sizes.reduce((a, b) => a + b);
  expect(await readWindow(database, windowId)).toMatchObject({ enrolled: total, received: total, state: "collecting" });
  expect(await closeWindow(database, windowId)).toBe(true);
  expect(await closeWindow(database, windowId)).toBe(false);
  expect(await readWindow(database, windowId)).toMatchObject({ enrolled: total, received: total, state: "closed" });
  expect(await database.query("SELECT 1 FROM window_shards WHERE window_id = $1", [windowId])).toEqual([]);
});

it("a window that closes while many count has exactly what was counted before, and nothing afterwards", async () => {
  const counting = Array.from({ length: 30 }, (_, i) => countIn(i % 5, newDevices(2)));
  const closing = closeWindow(database, windowId);
  const counted = (await Promise.all(counting)).filter((isCounted) => isCounted).length;
  expect(await closing).toBe(true);
  const [stored] = await database.query<{ reports: number }>(
    "SELECT count(*) AS reports FROM reports WHERE window_id = $1",
    [windowId],
  );
  expect(stored?.reports).toBe(2 * counted);
  expect(await readWindow(database, windowId)).toMatchObject({ enrolled: 2 * counted, received: 2 * counted });
  for (const shard of [0, 99]) expect(await countIn(shard, newDevices(1))).toBe(false);
});

it("a window is not left by a shard that it had: after closing, one statement stores nothing", async () => {
  const [one, other] = [newDevices(1), newDevices(1)];
  await countIn(0, one);
  await addDevices(database, windowId, 0, MANY, other);
  await closeWindow(database, windowId);
  expect(await addReports(database, windowId, 0, withReports(other))).toEqual([]);
  expect(await addDevices(database, windowId, 0, MANY, newDevices(1))).toBe(0);
  expect(await readWindow(database, windowId)).toMatchObject({ enrolled: 2, received: 1 });
});

it("the places of a window are those that all shards together have left", async () => {
  await countIn(1, newDevices(3));
  await countIn(2, newDevices(4));
  expect(await addDevices(database, windowId, 1, 9, newDevices(5))).toBe(2);
  expect(await addDevices(database, windowId, 2, 9, newDevices(5))).toBe(0);
  expect(await readWindow(database, windowId)).toMatchObject({ enrolled: 9, received: 7 });
});

it("refusals of several shards are one number per reason", async () => {
  const refusal = { name: "task", number: windows - 1, reason: "wrong-size", requests: 2 };
  for (const shard of [1, 2, 2]) await addRefusals(database, shard, refusal);
  await addRefusals(database, 1, { ...refusal, reason: "unauthorized", requests: 1 });
  const refused = { unauthorized: 1, "wrong-size": 6 };
  expect(await refusalsOf(database, windowId)).toEqual(refused);
  expect((await watchUnfinished(database)).find(({ id }) => id === windowId)).toMatchObject({ refused });
});

it("closing waits for a transaction that counts, and counts what it stored", async () => {
  // The embedded database has one connection: there, closing waits for its turn instead of a lock.
  const hasServer = inject("databaseServer") !== undefined;
  const other = hasServer ? await store.open() : database;
  let isClosed = false;
  let closing: Promise<unknown> | undefined;
  await database.transaction(async (transaction) => {
    // A new shard, which closing cannot see when it begins.
    expect(await lockShard(transaction, windowId, 7)).toBe(true);
    closing = closeWindow(other, windowId).then(() => {
      isClosed = true;
    });
    const waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
    if (hasServer) await eventually(async () => (await transaction.query(waiting))[0]);
    const devices = newDevices(3);
    await addDevices(transaction, windowId, 7, MANY, devices);
    await addReports(transaction, windowId, 7, withReports(devices));
    expect(isClosed).toBe(false);
  });
  await closing;
  expect(await readWindow(other, windowId)).toMatchObject({ state: "closed", enrolled: 3, received: 3 });
  if (hasServer) await other.close();
});
