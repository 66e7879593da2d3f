import { randomBytes } from "node:crypto";
import { expect, it } from "vitest";
import { addDevices } from "../dist/storage/devices.js";
import { addReports } from "../dist/storage/reports.js";
import { lockShard } from "../dist/storage/window-shards.js";
import { addWindow, closeWindow, findWindow } from "../dist/storage/windows.js";
import { eventually } from "../test/eventually.ts";
import { processesOnPostgres } from "../test/processes.ts";

const newProcesses = processesOnPostgres();

const [SHARD, CONNECTIONS, AT_ONCE] = [5, 6, 5];
const EVERYTHING = 1_000_000;

it("processes that draw the same shard count together what each of them was sent, until the window closes", async () => {
  const { openDatabase } = await newProcesses();
  const databases = await Promise.all(Array.from({ length: CONNECTIONS }, openDatabase));
  const [database] = databases as [(typeof databases)[0]];
  const window = { taskId: 1, name: "shared", number: 1, commitment: new Uint8Array() };
  const id = await addWindow(database, window);
  await database.transaction((transaction) => lockShard(transaction, id, SHARD));
  let [enrolled, received] = [0, 0];
  const work = async (own: typeof database): Promise<void> => {
    for (;;) {
      const devices = Array.from({ length: AT_ONCE }, () => {
        const device = new Uint8Array(randomBytes(16));
        return { device, tokenHash: new Uint8Array(32), group: 0, body: new Uint8Array(64) };
      });
      const added = await addDevices(own, id, SHARD, EVERYTHING, devices);
      enrolled += added;
      const stored = await addReports(own, id, SHARD, devices);
      received += stored.length;
      if (added === 0) return;
    }
  };
  const working = Promise.all(databases.map(work));
  await eventually(async () => received > 100 || undefined);
  await closeWindow(database, id);
  await working;
  expect(await findWindow(database, window.name, window.number)).toMatchObject({ state: "closed", enrolled, received });
  const [stored] = await database.query(
    "SELECT (SELECT count(*) FROM devices) AS enrolled, count(*) AS received FROM reports",
  );
  expect(stored).toEqual({ enrolled, received });
});
