import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { openPostgres } from "../dist/storage/postgres.js";
import { surviveClusterKills } from "../test/cluster.ts";
import { eventually } from "../test/eventually.ts";
import { startPostgres } from "../test/postgres.ts";

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
