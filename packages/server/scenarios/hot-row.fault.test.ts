import { afterAll, beforeAll, expect, it } from "vitest";
import { openPostgres } from "../dist/storage/postgres.js";
import { fetchTask } from "../test/device.ts";
import { type PostgresServer, startPostgres } from "../test/postgres.ts";
import { allCounted, MONTHS_TASK, makeReports, processesOn, sendAll, WINDOW } from "../test/processes.ts";
import { requireCountedOnce } from "../test/recount.ts";
import { createTask } from "../test/service.ts";

/** Every commit takes 10 ms, so that transactions meet; a statement that waits for a lock for 1 ms is logged. */
const SETTINGS = { commit_delay: "10000", commit_siblings: "0", log_lock_waits: "on", deadlock_timeout: "1ms" };
let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres({ settings: SETTINGS });
});
afterAll(() => server?.remove());

/** Statements that waited for a row that another transaction has. */
function rowWaits(): string[] {
  return server.log().match(/.*still waiting for .* on (?:transaction|tuple) .*(?:\n\t?.*){0,3}/g) ?? [];
}

const [INTAKES, TALLIES, DEVICES_EACH] = [3, 2, 100];

it("no statement waits for a row of another process while three intakes enrol and store, and two tallies count", async () => {
  const processes = processesOn(await server.createDatabase());
  const tallies = await Promise.all(Array.from({ length: TALLIES }, () => processes.start("tally")));
  const [tally] = tallies as [(typeof tallies)[0]];
  await createTask(tally, MONTHS_TASK);
  const task = await fetchTask(tally, MONTHS_TASK.task);
  const intakes = await Promise.all(Array.from({ length: INTAKES }, () => processes.start("intake")));
  // Processes that start together say in one row which database is the first.
  const atStart = rowWaits().length;
  const reports = await Promise.all(intakes.map((intake) => makeReports(intake, task, DEVICES_EACH)));
  const answers = await Promise.all(intakes.map((intake, i) => sendAll(intake, reports[i] ?? [])));
  expect(new Set(answers.flat())).toEqual(new Set([201]));
  const sent = reports.flat();
  const database = await processes.openDatabase();
  await allCounted(database, task, sent.length);
  await requireCountedOnce(database, processes.keyFile, task, WINDOW, sent);
  const [shards] = await database.query<{ enrolled: number; received: number; tallies: number }>(
    `SELECT (SELECT count(*) FROM window_shards WHERE enrolled > 0) AS enrolled,
            (SELECT count(*) FROM window_shards WHERE received > 0) AS received,
            (SELECT count(*) FROM tallies WHERE counted > 0) AS tallies`,
  );
  expect(shards?.enrolled).toBeGreaterThanOrEqual(INTAKES);
  expect(shards?.received).toBeGreaterThanOrEqual(INTAKES);
  expect(shards?.tallies).toBeGreaterThanOrEqual(TALLIES);
  expect(rowWaits().slice(atStart)).toEqual([]);
});

it("a statement that waits for a row is found in the server's log", async () => {
  const database = await openPostgres(await server.createDatabase());
  await database.query("INSERT INTO operator (key) VALUES ('key')");
  const update = "UPDATE operator SET key = 'other'";
  let waiting: Promise<unknown> | undefined;
  await database.transaction(async (transaction) => {
    await transaction.query(update);
    waiting = database.query(update);
    await transaction.query("SELECT pg_sleep(0.5)");
  });
  await waiting;
  await database.close();
  expect(rowWaits().join("\n")).toContain(update);
});
