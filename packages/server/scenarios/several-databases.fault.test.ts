import { expect, it } from "vitest";
import { placeOf } from "../dist/storage/place.js";
import { askToEnrol, inGroup, upload } from "../test/device.ts";
import { divideService, makeTask } from "../test/divided.ts";
import { surviveDatabaseKills } from "../test/divided-kills.ts";
import { eventually } from "../test/eventually.ts";
import { allCounted, MONTHS_TASK, makeReports, sendAll, WINDOW } from "../test/processes.ts";
import { releaseOf, requireCountedOnce, requireErased, requireReleased } from "../test/recount.ts";
import { closeByHand } from "../test/service.ts";

const [FIRST, SECOND] = [0, 1];

it("devices are divided among two databases by their ids, and the release has all of them, once", async () => {
  const { start, databases, keyFile } = await divideService(2);
  const tallies = await Promise.all([start("tally"), start("tally")]);
  const task = await makeTask(tallies[0], MONTHS_TASK);
  const intakes = await Promise.all([start("intake"), start("intake")]);
  const made = await Promise.all(intakes.map((intake) => makeReports(intake, task, 20)));
  // Every report goes to an intake that has not enrolled its device.
  for (const [i, reports] of made.entries()) {
    expect(new Set(await sendAll(intakes[1 - i] as (typeof intakes)[0], reports))).toEqual(new Set([201]));
    expect(new Set(await sendAll(intakes[i] as (typeof intakes)[0], reports))).toEqual(new Set([200]));
  }
  const sent = made.flat();
  for (const [place, database] of databases.entries()) {
    const stored = await database.query<{ device: Uint8Array }>("SELECT device FROM devices");
    expect(stored.length).toBeGreaterThan(0);
    for (const { device } of stored) expect(placeOf(device, databases.length)).toBe(place);
  }
  await allCounted(databases, task, sent.length);
  const status = await fetch(`${intakes[0].url}/v1/tasks/${task.name}/windows/${WINDOW}`);
  expect(await status.json()).toMatchObject({ enrolled: sent.length, received: sent.length });
  const sums = await requireCountedOnce(databases, keyFile, task, WINDOW, sent);
  expect((await closeByHand(tallies[1], task.name, WINDOW)).status).toBe(200);
  const release = await releaseOf(tallies[0], task, WINDOW);
  requireReleased(release, task, sums, sent.length);
  await eventually(async () => (await isErasedIn(databases)) || undefined);
  await requireErased(databases, keyFile, task, WINDOW);
  const late = await upload(intakes[0], (sent[0] as (typeof sent)[0]).device, (sent[0] as (typeof sent)[0]).report);
  expect(late.status).toBe(410);
});

/** Whether no database has rows of a window that is over. */
async function isErasedIn(databases: readonly { query<Row>(sql: string): Promise<Row[]> }[]): Promise<boolean> {
  const rows = await Promise.all(
    databases.map((database) =>
      database.query(`SELECT id FROM windows WHERE number = ${WINDOW} AND NOT (erased AND state <> 'collecting')`),
    ),
  );
  return rows.flat().length === 0;
}

it("a database that is stopped while its window closes delays the release, which then is complete", async () => {
  const { start, databases, servers, keyFile } = await divideService(2);
  const tally = await start("tally");
  const task = await makeTask(tally, MONTHS_TASK);
  const intake = await start("intake");
  const sent = await makeReports(intake, task, 30);
  expect(new Set(await sendAll(intake, sent))).toEqual(new Set([201]));
  await allCounted(databases, task, sent.length);
  const sums = await requireCountedOnce(databases, keyFile, task, WINDOW, sent);

  await servers[SECOND]?.stop("kill");
  expect((await closeByHand(tally, task.name, WINDOW)).status).toBe(503);
  // It is closed in the first database, and the tally has tried to go on.
  await eventually(async () => tally.logged.find((line) => line.includes("tally failed")));
  const states = await (databases[FIRST] as (typeof databases)[0]).query<{ state: string }>(
    `SELECT state FROM windows WHERE number = ${WINDOW}`,
  );
  expect(states).toEqual([{ state: "closed" }]);
  expect((await fetch(`${tally.url}/v1/tasks/${task.name}/releases/${WINDOW}`)).status).toBe(503);

  await servers[SECOND]?.start();
  requireReleased(await releaseOf(tally, task, WINDOW), task, sums, sent.length);
  await eventually(async () => (await isErasedIn(databases)) || undefined);
  await requireErased(databases, keyFile, task, WINDOW);
});

it("while a database is stopped, devices of the others enrol and report", async () => {
  const { start, databases, servers } = await divideService(2);
  const tally = await start("tally");
  const task = await makeTask(tally, MONTHS_TASK);
  const intake = await start("intake");
  const before = await makeReports(intake, task, 10);
  await servers[SECOND]?.stop("kill");
  const answers = await sendAll(intake, before);
  for (const [i, { device }] of before.entries()) {
    expect(answers[i]).toBe(placeOf(device.id, databases.length) === FIRST ? 201 : 503);
  }
  // Some are refused, until the intake has noticed.
  const enrolled = await eventually(async () => {
    const response = await askToEnrol(intake, task.name, WINDOW, inGroup("north"));
    return response.status === 201 ? response : undefined;
  });
  expect(enrolled.status).toBe(201);
  await servers[SECOND]?.start();
  for (const [i, sent] of before.entries()) {
    const status = await eventually(async () => {
      const response = await upload(intake, sent.device, sent.report);
      return response.status === 503 ? undefined : response.status;
    });
    expect(status).toBe(answers[i] === 201 ? 200 : 201);
  }
});

it("processes that start while a database is stopped serve the others, and release when it is back", async () => {
  const { start, databases, servers, keyFile } = await divideService(2);
  const tally = await start("tally");
  const task = await makeTask(tally, MONTHS_TASK);
  const intake = await start("intake");
  const sent = await makeReports(intake, task, 20);
  const [here, there] = [FIRST, SECOND].map((place) =>
    sent.filter(({ device }) => placeOf(device.id, databases.length) === place),
  ) as [typeof sent, typeof sent];
  await servers[SECOND]?.stop("kill");
  for (const process of [tally, intake]) await process.kill();
  const [newTally, newIntake] = await Promise.all([start("tally"), start("intake")]);
  expect(new Set(await sendAll(newIntake, here))).toEqual(new Set([201]));
  expect(new Set(await sendAll(newIntake, there))).toEqual(new Set([503]));
  await servers[SECOND]?.start();
  expect(new Set(await sendAll(newIntake, there))).toEqual(new Set([201]));
  await allCounted(databases, task, sent.length);
  const sums = await requireCountedOnce(databases, keyFile, task, WINDOW, sent);
  expect((await closeByHand(newTally, task.name, WINDOW)).status).toBe(200);
  requireReleased(await releaseOf(newTally, task, WINDOW), task, sums, sent.length);
});

it("intakes, tallies and databases that are killed 20 times lose nothing they acknowledged, and count nothing twice", async () => {
  const result = await surviveDatabaseKills(20, `databases ${Date.now()}`);
  console.log(JSON.stringify(result));
  expect(result.reports).toBeGreaterThan(20);
});
