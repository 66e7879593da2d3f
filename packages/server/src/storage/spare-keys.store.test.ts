import { rmSync } from "node:fs";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { unownedFolder } from "../../test/folder.ts";
import { createStore, type Store } from "../../test/store.ts";
import type { Database } from "./database.ts";
import { ONE_SHARD } from "./shards.ts";
import { addSpareKeys, bundleOf, claimSpareKeys, countSpareKeys, poolOf } from "./spare-keys.ts";
import { addWindow, closeWindow } from "./windows.ts";

const folder = unownedFolder();
let store: Store;
let database: Database;
let windowId: number;
let windows = 0;
beforeAll(async () => {
  store = await createStore(folder);
  database = await store.open();
});
beforeEach(async () => {
  const commitment = new Uint8Array(32);
  windowId = await addWindow(database, { taskId: 1, name: "task", number: windows++, commitment });
});
afterAll(async () => {
  await database.close();
  await store.remove();
  rmSync(folder, { recursive: true });
});

/** Adds a bundle whose ids begin with this number. */
function add(pool: number, first: number, entries = 1): Promise<void> {
  const spares = Array.from({ length: entries }, () => ({
    device: new Uint8Array(16).fill(first),
    publicKeys: new Uint8Array(32),
    signature: new Uint8Array(64),
  }));
  return addSpareKeys(database, windowId, pool, bundleOf(spares));
}

const claim = async (pool: number, most: number): Promise<(number | undefined)[]> =>
  (await claimSpareKeys(database, windowId, pool, most)).map(({ device: [first] }) => first);

it("a claim begins at its own pool, goes on with the next ones, and leaves none out", async () => {
  await add(3, 30);
  await add(7, 70);
  await add(7, 71);
  await add(15, 150);
  expect((await claim(5, 2)).sort()).toEqual([70, 71]);
  expect(await claim(5, 2)).toEqual([150]);
  expect(await claim(5, 2)).toEqual([30]);
  expect(await claim(5, 2)).toEqual([]);
  expect(await claim(0, 2)).toEqual([]);
});

it("the keys of all pools are counted together", async () => {
  await add(0, 1, 4);
  await add(15, 2, 5);
  expect(await countSpareKeys(database, windowId)).toBe(9);
});

it("a closed window gets no keys", async () => {
  await closeWindow(database, windowId);
  await add(0, 1);
  expect(await countSpareKeys(database, windowId)).toBe(0);
});

it("every process has one of 16 pools; an embedded database has pool 0", async () => {
  expect(poolOf({ shards: ONE_SHARD })).toBe(0);
  const pool = poolOf(database);
  expect(pool).toBeGreaterThanOrEqual(0);
  expect(pool).toBeLessThan(16);
});
