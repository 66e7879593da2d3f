import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { unownedFolder } from "../../test/folder.ts";
import { createStore, type Store } from "../../test/store.ts";
import type { Database, Queryable } from "./database.ts";
import { addHelperReports, findHelperReports, type HelperReport } from "./helper-reports.ts";
import { migrate } from "./migrations.ts";
import { leaseReports, markCounted } from "./reports.ts";

const folder = unownedFolder();
let store: Store;
let database: Database;
beforeAll(async () => {
  store = await createStore(folder);
  database = await store.open();
  await migrate(database);
});
afterAll(async () => {
  await database.close();
  await store.remove();
  rmSync(folder, { recursive: true });
});

const WINDOW = 7;

function reportsOf(count: number): HelperReport[] {
  return Array.from({ length: count }, () => ({
    device: new Uint8Array(randomBytes(16)),
    digest: new Uint8Array(randomBytes(32)),
    leaderDigest: new Uint8Array(randomBytes(32)),
    verifier: new Uint8Array(randomBytes(33)),
  }));
}

it("finds reports by the places of their devices, in this window only", async () => {
  const [one, other, unknown] = reportsOf(3) as [HelperReport, HelperReport, HelperReport];
  await addHelperReports(database, WINDOW, [one]);
  await addHelperReports(database, WINDOW + 1, [other]);
  const devices = [unknown, other, one].map(({ device }) => device);
  expect(await findHelperReports(database, WINDOW, devices)).toEqual(new Map([[2, one]]));
  expect(await findHelperReports(database, WINDOW + 1, devices)).toEqual(new Map([[1, other]]));
  expect(await findHelperReports(database, WINDOW, [])).toEqual(new Map());
});

const DEVICES = reportsOf(2).map(({ device }) => device);
const LEASE = new Uint8Array(16);

it.each<[string, (database: Queryable) => Promise<unknown>]>([
  ["finding what a helper has counted", (explained) => findHelperReports(explained, WINDOW, DEVICES)],
  ["leasing reports", (explained) => leaseReports(explained, WINDOW, LEASE, 512, 60)],
  ["marking reports as counted", (explained) => markCounted(explained, WINDOW, LEASE, DEVICES)],
])("%s looks each device up in an index, and compares none with the whole window", async (_, ask) => {
  const plan: string[] = [];
  await ask({
    query: async (sql, values) => {
      const rows = await database.query<Record<string, string>>(`EXPLAIN ${sql}`, values);
      plan.push(...rows.flatMap((row) => Object.values(row)));
      return [];
    },
  });
  expect(plan.join("\n")).toMatch(/Index Cond: .*window_id.*device = ANY/);
  expect(plan.join("\n")).not.toMatch(/Join Filter|Filter: .*device/);
});
