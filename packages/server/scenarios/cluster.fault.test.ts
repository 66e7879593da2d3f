import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { openPostgres } from "../dist/storage/postgres.js";
import { surviveClusterKills } from "../test/cluster.ts";
import { fetchTask, upload } from "../test/device.ts";
import { eventually } from "../test/eventually.ts";
import { startPostgres } from "../test/postgres.ts";
import { query } from "../test/postgres-databases.ts";
import { MONTHS_TASK, makeReports, processesOn } from "../test/processes.ts";
import { createTask } from "../test/service.ts";

it("three intakes and three tallies, killed 20 times, lose nothing they acknowledged and count nothing twice", async () => {
  const result = await surviveClusterKills(20, `cluster ${Date.now()}`);
  console.log(JSON.stringify(result));
  expect(result.reports).toBeGreaterThan(20);
});

it("what the standby does not have is not there for good, although it can be read", async () => {
  const primary = await startPostgres({ settings: { wal_retrieve_retry_interval: "100ms" } });
  onTestFinished(primary.remove);
  const standby = await primary.addSynchronousStandby();
  onTestFinished(standby.remove);
  const database = await openPostgres(primary.url);
  onTestFinished(database.close);
  await standby.stop();
  // Its commit waits for the standby, until the restart.
  const cutOff = expect(database.query("INSERT INTO operator (key) VALUES ($1)", ["key"])).rejects.toThrow();
  const waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
  await eventually(async () => (await database.query(waiting))[0]);
  await primary.restart("fast");
  await cutOff;
  expect(await database.query("SELECT key FROM operator")).toEqual([{ key: "key" }]);

  let isPersisted = false;
  const persisted = database.persist().then(() => {
    isPersisted = true;
  });
  await sleep(500);
  expect(isPersisted).toBe(false);
  await standby.start();
  await persisted;
});

it("a report that only the primary has is not acknowledged, not even as one that was sent before", async () => {
  const primary = await startPostgres({ settings: { wal_retrieve_retry_interval: "100ms" } });
  onTestFinished(primary.remove);
  const url = await primary.createDatabase();
  const standby = await primary.addSynchronousStandby();
  onTestFinished(standby.remove);
  const service = await processesOn(url).start("all");
  await createTask(service, MONTHS_TASK);
  const [sent] = await makeReports(service, await fetchTask(service, MONTHS_TASK.task), 1);
  if (!sent) throw new TypeError("there is no report");
  const send = async (): Promise<number> => (await upload(service, sent.device, sent.report)).status;
  // Only intake takes this lock.
  const stores = "relation = 'reports'::regclass AND mode = 'RowExclusiveLock'";
  const untilItWaits = (): Promise<string> =>
    eventually(async () => {
      const waiting = `SELECT 1 FROM pg_stat_activity JOIN pg_locks USING (pid) WHERE wait_event = 'SyncRep' AND ${stores}`;
      return (await query(url, waiting).catch(() => []))[0] && "waits";
    });

  await standby.stop();
  const first = send();
  expect(await Promise.race([first, untilItWaits()])).toBe("waits");
  await primary.restart("fast");
  expect(await first).toBe(503);
  expect(await query(url, "SELECT count(*)::int AS n FROM reports")).toEqual([{ n: 1 }]);
  const again = send();
  expect(await Promise.race([again, untilItWaits()])).toBe("waits");
  await standby.start();
  expect(await again).toBe(200);
});
