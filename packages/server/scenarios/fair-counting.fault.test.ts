import { randomBytes } from "node:crypto";
import type { Task } from "@lethe/core/message";
import { encodeReport, reportBytes } from "@lethe/core/message";
import { expect, it } from "vitest";
import { addDevices } from "../dist/storage/devices.js";
import { addReports } from "../dist/storage/reports.js";
import { lockShard } from "../dist/storage/window-shards.js";
import { findWindow } from "../dist/storage/windows.js";
import type { Database } from "../src/storage/database.ts";
import { fetchTask, type KnownTask } from "../test/device.ts";
import { allCounted, MONTHS_TASK, makeReports, processesOnPostgres, sendAll, WINDOW } from "../test/processes.ts";
import { countedOf } from "../test/recount.ts";
import { createTask } from "../test/service.ts";

const newProcesses = processesOnPostgres();

/** Counting this many takes one thread several seconds. Every window is counted for one second per round. */
const MUCH = 6000;
const AT_ONCE = 400;
/** More than the keys that lie ready: a tally makes some of them while it counts. */
const FEW = 50;

/** Its reports have 1,000 counters each. */
const LARGE_TASK: Task = {
  ...MONTHS_TASK,
  task: "much",
  metrics: Array.from({ length: 1000 }, (_, i) => ({
    ...{ name: `counter-${i}`, statistic: "occurrence", localEpsilon: 1 },
  })) as Task["metrics"],
};

/** Stores reports with random ciphertexts, which take as long to open as others. */
async function store(database: Database, task: KnownTask, devices: number): Promise<void> {
  const window = await findWindow(database, task.name, WINDOW);
  if (!window) throw new TypeError("there is no window");
  await database.transaction((transaction) => lockShard(transaction, window.id, 1));
  const header = encodeReport(task.hash, []);
  const tokenHash = new Uint8Array(32);
  for (let left = devices; left > 0; left -= AT_ONCE) {
    const some = Array.from({ length: Math.min(left, AT_ONCE) }, () => ({
      ...{ device: new Uint8Array(randomBytes(16)), tokenHash, group: 0 },
      body: new Uint8Array(Buffer.concat([header, randomBytes(reportBytes(task.layout) - header.length)])),
    }));
    expect(await addDevices(database, window.id, 1, MUCH, some)).toBe(some.length);
    expect(await addReports(database, window.id, 1, some)).toHaveLength(some.length);
  }
}

it("a task with little is counted, and gets its keys, while a tally has much to count of another", async () => {
  const processes = await newProcesses();
  const first = await processes.start("tally");
  // The larger one first: its window has its turn before the other's in every round.
  for (const task of [LARGE_TASK, MONTHS_TASK]) await createTask(first, task);
  const [much, little] = [await fetchTask(first, LARGE_TASK.task), await fetchTask(first, MONTHS_TASK.task)];
  await first.end();
  const database = await processes.openDatabase();
  await store(database, much, MUCH);
  const intake = await processes.start("intake");
  await processes.start("tally");
  const reports = await makeReports({ ...intake, operatorKey: first.operatorKey }, little, FEW);
  expect(new Set(await sendAll(intake, reports))).toEqual(new Set([201]));
  await allCounted(database, little, FEW);
  const counted = await countedOf(database, much, WINDOW);
  console.log(JSON.stringify({ little: FEW, much: counted, of: MUCH }));
  expect(counted).toBeGreaterThan(0);
  expect(counted).toBeLessThan(MUCH);
});
