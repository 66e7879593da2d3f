import { copyFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { windowAt } from "@lethe/core/message";
import type { Service, ServiceOptions } from "@lethe/server";
import { expect, it, onTestFinished } from "vitest";
import { startService } from "../../dist/service.js";
import { enrol, fetchTask, reportOf, upload } from "../../test/device.ts";
import { temporaryFolder } from "../../test/folder.ts";
import { windowsIn } from "../../test/key-file.ts";
import { ADMIN_TOKEN, createTask, EXACT_TASK, SILENT } from "../../test/service.ts";
import { createStore, type Store } from "../../test/store.ts";

const NOW = Date.UTC(2026, 0, 1);

async function newStore(): Promise<Store> {
  const store = await createStore(join(temporaryFolder(), "store"));
  onTestFinished(() => store.remove());
  return store;
}

function start(store: Store, keyFile: string, changed: Partial<ServiceOptions> = {}): Promise<Service> {
  const settings = { adminToken: ADMIN_TOKEN, host: "127.0.0.1", port: 0, log: SILENT, threads: 1, keysAhead: 5 };
  return startService({ ...store.options, ...settings, keyFile, clock: () => NOW, ...changed });
}

async function startAndStop(...args: Parameters<typeof start>): Promise<string | undefined> {
  const service = await start(...args);
  await service.close();
  return service.operatorKey;
}

const idIn = (keyFile: string): unknown =>
  (JSON.parse(readFileSync(keyFile, "utf8")) as { database?: unknown }).database;

async function idOf(store: Store): Promise<unknown> {
  const database = await store.open();
  const [row] = await database.query<{ id: unknown }>("SELECT database_id AS id FROM operator");
  await database.close();
  return row?.id;
}

/** As versions before this one left them. */
async function forgetIds(store: Store, keyFile: string): Promise<void> {
  const database = await store.open();
  await database.query("UPDATE operator SET database_id = NULL");
  await database.close();
  const { database: _, ...content } = JSON.parse(readFileSync(keyFile, "utf8")) as Record<string, unknown>;
  writeFileSync(keyFile, JSON.stringify(content));
}

it("a key file and a database that were first used together know each other, and start again", async () => {
  const [store, keyFile] = [await newStore(), join(temporaryFolder(), "keys")];
  const operatorKey = await startAndStop(store, keyFile);
  expect(idIn(keyFile)).toMatch(/^[\w-]{22}$/);
  expect(await idOf(store)).toBe(idIn(keyFile));
  expect(await startAndStop(store, keyFile)).toBe(operatorKey);
});

it("a key file is refused with an empty database instead of its own one, and works with its own one again, with nothing lost", async () => {
  const [store, empty, keyFile] = [await newStore(), await newStore(), join(temporaryFolder(), "keys")];
  const first = await start(store, keyFile);
  const service = { url: first.url, operatorKey: first.operatorKey as string };
  await createTask(service, EXACT_TASK);
  const task = await fetchTask(service, EXACT_TASK.task);
  const device = await enrol(service, task, windowAt(EXACT_TASK, NOW / 1000));
  const report = reportOf(device);
  expect((await upload(service, device, report)).status).toBe(201);
  await first.close();
  const before = readFileSync(keyFile, "utf8");

  const refusal = { code: "bad-key-file", message: expect.stringMatching(/empty.*restore.*--new-database/i) };
  await expect(start(empty, keyFile)).rejects.toMatchObject(refusal);
  expect(readFileSync(keyFile, "utf8")).toBe(before);
  expect(existsSync(`${keyFile}.lock`)).toBe(false);
  const again = await start(store, keyFile);
  expect((await upload(again, device, report)).status).toBe(200);
  await again.close();
});

it("one key file for two databases is refused, also if both have its operator's key", async () => {
  const [store, other] = [await newStore(), await newStore()];
  const [keyFile, copy] = [join(temporaryFolder(), "keys"), join(temporaryFolder(), "copy")];
  await startAndStop(store, keyFile);
  copyFileSync(keyFile, copy);
  await startAndStop(other, copy, { newDatabase: true });
  const refusal = { code: "bad-key-file", message: expect.stringMatching(/belongs to another database/) };
  await expect(start(other, keyFile)).rejects.toMatchObject(refusal);
  await expect(start(store, copy)).rejects.toMatchObject(refusal);
  await startAndStop(store, keyFile);
  await startAndStop(other, copy);
});

it("a database that is lost is replaced when the operator says so, once, and devices keep the key that they pin", async () => {
  const [store, next, keyFile] = [await newStore(), await newStore(), join(temporaryFolder(), "keys")];
  const service = await start(store, keyFile);
  await createTask(service, EXACT_TASK);
  await service.close();
  expect(windowsIn(keyFile, EXACT_TASK.task)).toHaveLength(2);
  expect(await startAndStop(next, keyFile, { newDatabase: true })).toBe(service.operatorKey);
  expect(windowsIn(keyFile, EXACT_TASK.task)).toEqual([]);
  await expect(start(next, keyFile, { newDatabase: true })).rejects.toMatchObject({
    code: "bad-database",
    message: expect.stringContaining("without --new-database"),
  });
  await startAndStop(next, keyFile);
});

it("what an earlier version left without ids gets them; an empty database in its place is refused where the service can notice it", async () => {
  const [store, empty, keyFile] = [await newStore(), await newStore(), join(temporaryFolder(), "keys")];
  const service = await start(store, keyFile);
  await createTask(service, EXACT_TASK);
  await service.close();
  await forgetIds(store, keyFile);
  await expect(start(empty, keyFile)).rejects.toMatchObject({ code: "bad-key-file" });
  await startAndStop(store, keyFile);
  expect(idIn(keyFile)).toMatch(/^[\w-]{22}$/);
  expect(await idOf(store)).toBe(idIn(keyFile));
});

it.each(["database", "key file"])(
  "an id that only the other knows, after a crash or a restore, is taken over by the %s",
  async (lost) => {
    const [store, keyFile] = [await newStore(), join(temporaryFolder(), "keys")];
    await startAndStop(store, keyFile);
    const id = idIn(keyFile);
    const before = readFileSync(keyFile, "utf8");
    await forgetIds(store, keyFile);
    if (lost === "database") writeFileSync(keyFile, before);
    else {
      const database = await store.open();
      await database.query("UPDATE operator SET database_id = $1", [String(id)]);
      await database.close();
    }
    await startAndStop(store, keyFile);
    expect([idIn(keyFile), await idOf(store)]).toEqual([id, id]);
  },
);
