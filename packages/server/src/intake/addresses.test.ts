import { createHash } from "node:crypto";
import { DEVICE_BYTES, SIGNATURE_BYTES, windowAt } from "@lethe/core/message";
import { expect, it, onTestFinished } from "vitest";
import { openDataFolder } from "../../dist/storage/data-folder.js";
import { enrol, fetchTask } from "../../test/device.ts";
import { allBytes, copyEmptyDatabase, temporaryFolder } from "../../test/folder.ts";
import { createTask, EXACT_TASK, startTestService } from "../../test/service.ts";
import type { Database, Queryable } from "../storage/database.ts";
import { addSpareKeys, bundleOf } from "../storage/spare-keys.ts";
import { addWindow, findWindow, type WindowIdentity } from "../storage/windows.ts";
import { createAdmission, DEFAULT_RULES } from "./admission.ts";
import { createEnrolment } from "./enrol.ts";
import { createKeyStock } from "./key-stock.ts";
import { networkOf } from "./network.ts";
import { createNetworkLimit } from "./network-limit.ts";
import { hashOf } from "./token.ts";

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

/**
 * Records every statement that the database gets, with its values: its files and its log hold nothing else, but for
 * times.
 */
function recorded(database: Database, told: unknown[][]): Database {
  const listen = ({ query }: Queryable): Queryable => ({
    query: (sql, values) => {
      told.push([sql, ...(values ?? []).map((value) => (value instanceof Uint8Array ? hexOf(value) : value))]);
      return query(sql, values);
    },
  });
  return {
    ...database,
    ...listen(database),
    transaction: (use) => database.transaction((transaction) => use(listen(transaction))),
  };
}

/** Enrols devices from these addresses: the statements that the database got, and what became of each request. */
async function enrolFrom(
  inner: Database,
  addresses: readonly string[],
): Promise<{ told: unknown[]; outcomes: string[] }> {
  await inner.query("TRUNCATE tasks, windows, window_shards, devices, spare_keys RESTART IDENTITY");
  const id = await addWindow(inner, await aTask(inner));
  const spares = addresses.map((_, i) => ({
    device: new Uint8Array(DEVICE_BYTES).fill(i),
    publicKeys: new Uint8Array(32).fill(i),
    signature: new Uint8Array(SIGNATURE_BYTES).fill(i),
  }));
  await addSpareKeys(inner, id, 0, bundleOf(spares));
  const told: unknown[][] = [];
  const database = recorded(inner, told);
  const admit = createAdmission({ ...DEFAULT_RULES, rate: { perSecond: 0.01, burst: 5 } }, () => 0);
  const enrolDevice = createEnrolment(database, {
    mostPerWindow: 1e6,
    databasesOf: () => 1,
    networks: createNetworkLimit(2),
    keys: createKeyStock(database, () => undefined),
  });
  const window = (await findWindow(inner, "task", 1)) as WindowIdentity;
  const outcomes: string[] = [];
  const tokens: string[] = [];
  for (const address of addresses) {
    try {
      await admit({ task: "task", window: 1, address, bearer: undefined, attestation: undefined });
      const { device, uploadToken } = await enrolDevice(window, address, 0);
      outcomes.push(hexOf(device));
      tokens.push(hexOf(hashOf(uploadToken)));
    } catch (error) {
      outcomes.push((error as { code: string }).code);
    }
  }
  // Every run draws other tokens.
  const withoutTokens = told.map((line) => line.map((value) => (tokens.includes(String(value)) ? "a token" : value)));
  return { told: withoutTokens, outcomes };
}

async function aTask(database: Queryable): Promise<Parameters<typeof addWindow>[1]> {
  const [row] = await database.query<{ id: number }>(
    "INSERT INTO tasks (name, version, from_window, manifest, signature) VALUES ('task', 1, 1, '{}', '') RETURNING id",
  );
  return { taskId: row?.id as number, name: "task", number: 1, commitment: new Uint8Array(32) };
}

it("the statements that the database gets do not depend on the addresses of devices, whose limits hold all the same", async () => {
  const folder = temporaryFolder();
  await copyEmptyDatabase(`${folder}/data`);
  const database = await openDataFolder(`${folder}/data`);
  onTestFinished(database.close);
  const a = await enrolFrom(database, ["192.0.2.1", "192.0.2.1", "192.0.2.1"]);
  const b = await enrolFrom(database, ["::1", "::1", "::1"]);
  expect(a.outcomes).toEqual([expect.stringMatching(/^(02)+$/), expect.stringMatching(/^(01)+$/), "rate-limited"]);
  expect(b).toEqual(a);
  expect(a.told.length).toBeGreaterThan(2);
});

it("no address is in the files of a service, nor the pseudonym that older versions stored", async () => {
  const service = await startTestService({ trustProxy: true });
  try {
    await createTask(service, EXACT_TASK);
    const task = await fetchTask(service, EXACT_TASK.task);
    const window = windowAt(EXACT_TASK, service.clock() / 1000);
    const addresses = ["203.0.113.77", "2001:db8:77:66:55:44:33:22"];
    const devices = [];
    for (const address of addresses) {
      devices.push(await enrol(service, task, window, { headers: { "x-forwarded-for": address } }));
    }
    await service.stop();
    const database = await service.openDatabase();
    const found = await findWindow(database, task.name, window);
    await database.close();
    const everything = allBytes(service.folder);
    for (const { id } of devices) expect(everything.includes(Buffer.from(id))).toBe(true);
    for (const network of addresses.map(networkOf)) {
      const salt = found?.commitment as Uint8Array;
      const pseudonym = createHash("sha256").update(salt).update(network).digest();
      for (const form of [network, pseudonym, pseudonym.toString("hex"), Uint8Array.of(0x20, 1, 0xd, 0xb8, 0, 0x77)]) {
        expect(everything.includes(Buffer.from(form))).toBe(false);
      }
    }
  } finally {
    await service.remove();
  }
});
