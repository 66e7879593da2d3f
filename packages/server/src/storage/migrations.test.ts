import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openDataFolder } from "../../dist/storage/data-folder.js";
import { migrate } from "../../dist/storage/migrations.js";
import { openPglite } from "../../dist/storage/pglite.js";
import { temporaryFolder } from "../../test/folder.ts";
import { addDevices } from "./devices.ts";
import { countedIn, readTallies } from "./tallies.ts";
import { lockShard } from "./window-shards.ts";
import { closeWindow, findWindow, refusalsOf, type WindowRow } from "./windows.ts";

const BEFORE_SHARDS = 10;

it("a window of before there were shards keeps what it has counted, and counts on", async () => {
  const folder = join(temporaryFolder(), "data");
  mkdirSync(join(folder, "database"), { recursive: true });
  const old = await openPglite(join(folder, "database"));
  await migrate(old, BEFORE_SHARDS);
  await old.query(
    "INSERT INTO tasks (name, version, from_window, manifest, signature) VALUES ('task', 1, 0, '{}', '')",
  );
  await old.query(
    "INSERT INTO windows (task_id, name, number, secret_commitment, enrolled, received) VALUES (1, 'task', 5, '', 12, 9)",
  );
  await old.query("INSERT INTO tallies (window_id, counted, sealed) VALUES (1, 8, $1)", [Uint8Array.of(1, 2, 3)]);
  await old.query("INSERT INTO refusals (window_id, reason, requests) VALUES (1, 'wrong-size', 4)");
  await old.close();

  const database = await openDataFolder(folder);
  const window = (await findWindow(database, "task", 5)) as WindowRow;
  expect(window).toMatchObject({ state: "collecting", enrolled: 12, received: 9 });
  expect(await countedIn(database, window.id)).toBe(8);
  expect(await readTallies(database, window.id)).toEqual([{ counted: 8, sealed: Uint8Array.of(1, 2, 3) }]);
  expect(await refusalsOf(database, window.id)).toEqual({ "wrong-size": 4 });

  await database.transaction((transaction) => lockShard(transaction, window.id, 0));
  const device = { device: new Uint8Array(16), tokenHash: new Uint8Array(32), group: 0 };
  expect(await addDevices(database, window.id, 0, 1e6, [device])).toBe(1);
  await closeWindow(database, window.id);
  expect(await findWindow(database, "task", 5)).toMatchObject({ state: "closed", enrolled: 13, received: 9 });
  await database.close();
});
