import { join } from "node:path";
import { openService } from "@lethe/server";
import { afterAll, afterEach, beforeAll, expect, it, onTestFinished } from "vitest";
import type { Database } from "../dist/storage/database.js";
import { openPostgres } from "../dist/storage/postgres.js";
import { askToEnrol, enrolMany, fetchTask, type KnownTask, reportOf, upload } from "../test/device.ts";
import { eventually } from "../test/eventually.ts";
import { temporaryFolder } from "../test/folder.ts";
import { failedRounds } from "../test/metrics.ts";
import { type PostgresServer, startPostgres } from "../test/postgres.ts";
import { nameOf, query } from "../test/postgres-databases.ts";
import { expectProblem } from "../test/problem.ts";
import {
  ADMIN_TOKEN,
  closeByHand,
  createTask,
  EXACT_TASK,
  SILENT,
  startTestService,
  type TestService,
} from "../test/service.ts";

let server: PostgresServer;
let service: TestService;
beforeAll(async () => {
  server = await startPostgres();
});
afterEach(() => service?.remove());
afterAll(() => server?.remove());

const newDatabases = (count: number): Promise<string[]> =>
  Promise.all(Array.from({ length: count }, () => server.createDatabase()));

async function lookInto(url: string): Promise<Database> {
  const database = await openPostgres(url);
  onTestFinished(database.close);
  return database;
}

const WINDOW_SECONDS = EXACT_TASK.ticks * EXACT_TASK.tickSeconds;
const running = (): number => Math.floor(service.clock() / 1000 / WINDOW_SECONDS);

/** Reports of this many devices for the running window. */
async function report(task: KnownTask, devices: number): Promise<number> {
  for (const device of await enrolMany(service, task, running(), devices)) {
    expect((await upload(service, device, reportOf(device, "happened"))).status).toBe(201);
  }
  return running();
}

async function release(window: number): Promise<unknown> {
  return eventually(async () => {
    const response = await fetch(`${service.url}/v1/tasks/${EXACT_TASK.task}/releases/${window}`);
    return response.status === 200 ? response.json() : undefined;
  });
}

/** The devices that a database has. */
async function devicesIn(url: string): Promise<number> {
  return (await (await lookInto(url)).query("SELECT 1 FROM devices")).length;
}

it("a database that joins gets its share of the windows that are made from then on; those that run go on as they began", async () => {
  const [first, second] = (await newDatabases(2)) as [string, string];
  service = await startTestService({ databaseUrl: first });
  await createTask(service, EXACT_TASK);
  const task = await fetchTask(service, EXACT_TASK.task);
  const before = await report(task, 4);
  await service.restart({ databaseUrl: `${first} ${second}` });
  await report(task, 4);
  expect(await devicesIn(second)).toBe(0);
  // The next window was made before the database joined, the one after it was not.
  service.clock.advance(2 * WINDOW_SECONDS);
  const later = await report(task, 12);
  expect(later).toBe(before + 2);
  expect(await release(before)).toMatchObject({ status: "released", enrolled: 8, received: 8 });
  expect(await devicesIn(second)).toBe(6);
  await closeByHand(service, task.name, later);
  expect(await release(later)).toMatchObject({ status: "released", enrolled: 12, received: 12 });
  await eventually(async () => ((await devicesIn(second)) === 0 ? true : undefined));
});

it("a tally without a database of an open window does not start; given up, the window is lost, and the others go on", async () => {
  const [first, second, third] = (await newDatabases(3)) as [string, string, string];
  service = await startTestService({ databaseUrl: `${first} ${second}` });
  await createTask(service, EXACT_TASK);
  const task = await fetchTask(service, EXACT_TASK.task);
  const window = await report(task, 6);
  await expect(service.restart({ databaseUrl: first })).rejects.toThrow(
    /^window \d+ of exact has a part in the database .*, which DATABASE_URL does not list: .* --abandon-lost-windows$/,
  );
  await expect(service.restart({ databaseUrl: `${first} ${third}` })).rejects.toThrow("does not list");
  await service.restart({ databaseUrl: first, abandonLostWindows: true });
  expect(await release(window)).toMatchObject({ status: "lost", received: 3 });
  service.clock.advance(2 * WINDOW_SECONDS);
  const next = await report(task, 5);
  // The database is back: what it has of the lost window is erased.
  expect(await devicesIn(second)).toBe(3);
  await service.restart({ databaseUrl: `${first} ${second}`, abandonLostWindows: false });
  await eventually(async () => ((await devicesIn(second)) === 0 ? true : undefined));
  await closeByHand(service, task.name, next);
  expect(await release(next)).toMatchObject({ status: "released", received: 5 });
});

it("an intake without a database of a window refuses its devices, for them to try again elsewhere", async () => {
  const [first, second] = (await newDatabases(2)) as [string, string];
  service = await startTestService({ databaseUrl: `${first} ${second}` });
  await createTask(service, EXACT_TASK);
  const task = await fetchTask(service, EXACT_TASK.task);
  const [device] = (await enrolMany(service, task, running(), 1)) as [Awaited<ReturnType<typeof enrolMany>>[0]];
  const intake = await openService({
    ...{ role: "intake", databaseUrl: first, host: "127.0.0.1", port: 0, log: SILENT, clock: service.clock },
  });
  onTestFinished(intake.close);
  for (const response of [
    await askToEnrol(intake, task.name, running()),
    await upload(intake, device, reportOf(device)),
  ]) {
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ detail: expect.stringContaining("lacks a database") });
  }
  expect((await upload(service, device, reportOf(device))).status).toBe(201);
});

const start = (databaseUrl: string, role: "all" | "leader" = "all") =>
  openService({
    ...{ role, databaseUrl, keyFile: join(temporaryFolder(), "keys"), adminToken: ADMIN_TOKEN, log: SILENT },
    ...{ host: "127.0.0.1", port: 0, clock: service?.clock },
    ...(role === "leader" && {
      peer: { url: "http://127.0.0.1:1", secret: "s".repeat(32), operatorKey: `ed25519:${"A".repeat(43)}` },
    }),
  });

it("lists that cannot be right are refused: a database twice, in another order, of another service, with tasks, or for a leader", async () => {
  const [first, second, other, free] = (await newDatabases(4)) as [string, string, string, string];
  service = await startTestService({ databaseUrl: `${first} ${second}` });
  await createTask(service, EXACT_TASK);
  await (await start(other)).close();
  await expect(start(`${free} ${free}`)).rejects.toThrow("DATABASE_URL lists a database twice");
  await expect(start(`${free} ${first}`)).rejects.toThrow("database 2 of DATABASE_URL has tasks");
  await expect(start(`${other} ${second}`)).rejects.toThrow("database 2 of DATABASE_URL belongs to another service");
  await expect(start(`${free} ${free}`, "leader")).rejects.toThrow(
    "a leader has one database, but DATABASE_URL lists 2",
  );
  // What was refused before has claimed nothing.
  await (await start(free)).close();
  await expect(service.restart({ databaseUrl: `${second} ${first}` })).rejects.toThrow(
    "list the one with the tasks first",
  );
  await expect(service.restart({ databaseUrl: second })).rejects.toThrow("list the one with the tasks first");
  await service.restart({ databaseUrl: `${first}   ${second} ` });
});

it("a first database that was restored from a backup does not touch what the others have of windows that it forgot", async () => {
  const [first, second] = (await newDatabases(2)) as [string, string];
  service = await startTestService({ databaseUrl: `${first} ${second}` });
  await createTask(service, EXACT_TASK);
  const forgotten = await fetchTask(service, EXACT_TASK.task);
  await report(forgotten, 6);
  const before = await devicesIn(second);
  expect(before).toBeGreaterThan(0);
  await service.stop();
  // As if it were a copy from before these windows were made, and another window had taken the number of one.
  const database = await lookInto(first);
  await database.query("UPDATE windows SET name = 'other', state = 'released', erased = true");
  await service.restart();
  const reason = await eventually(async () => {
    const response = await fetch(`${service.url}/readyz`);
    return response.status === 503 ? response.text() : undefined;
  });
  expect(reason).toMatch(/a database has another window instead of window \d+ of exact/);
  expect(await devicesIn(second)).toBe(before);
});

it("a database that was created again, empty, is not used by those who knew the other: nothing is released without it", async () => {
  const [first, second] = (await newDatabases(2)) as [string, string];
  service = await startTestService({ databaseUrl: `${first} ${second}` });
  await createTask(service, EXACT_TASK);
  const task = await fetchTask(service, EXACT_TASK.task);
  const window = await report(task, 8);
  const [name, look] = [nameOf(second), await lookInto(second)];
  await query(server.url, `DROP DATABASE ${name} WITH (FORCE)`);
  await query(server.url, `CREATE DATABASE ${name}`);
  // Another process, as after an upgrade, makes its tables.
  await expect(start(`${first} ${second}`)).rejects.toThrow();
  expect(await devicesIn(second)).toBe(0);
  await closeByHand(service, task.name, window);
  // It tries in every round.
  const begun = await failedRounds(service);
  const released = async (): Promise<number> =>
    (await fetch(`${service.url}/v1/tasks/${task.name}/releases/${window}`)).status;
  await eventually(async () => (await failedRounds(service)) >= begun + 3 || (await released()) === 200 || undefined);
  expect(await released()).toBe(503);
  await expect(look.query("SELECT 1")).rejects.toThrow("there is another database now than when this process started");
  expect(await (await lookInto(second)).query("SELECT 1 FROM windows")).toEqual([]);
});

it("a database that replaces another in the list is not taken for that one while it does not answer", async () => {
  const [first, second] = (await newDatabases(2)) as [string, string];
  service = await startTestService({ databaseUrl: `${first} ${second}` });
  await createTask(service, EXACT_TASK);
  const other = Object.assign(new URL(second), { port: "1" }).href;
  await expect(service.restart({ databaseUrl: `${first} ${other}` })).rejects.toThrow(
    /^database 2 of DATABASE_URL cannot be used: .*ECONNREFUSED/,
  );
  await service.restart({ databaseUrl: `${first} ${second}` });
});

it("the places of a window are divided among its databases", async () => {
  const databaseUrl = (await newDatabases(2)).join(" ");
  service = await startTestService({ databaseUrl, trustProxy: true, enrolment: { mostPerWindow: 6 } });
  await createTask(service, EXACT_TASK);
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      eventually(async () => {
        const headers = { "x-forwarded-for": `198.51.100.${i}` };
        const response = await askToEnrol(service, EXACT_TASK.task, running(), { headers });
        return response.status === 503 ? undefined : response;
      }),
    ),
  );
  const refused = answers.filter(({ status }) => status !== 201);
  expect(refused).toHaveLength(14);
  for (const response of refused) {
    expect((await expectProblem(response, "rate-limited")).detail).toContain("at most 6 devices enrol in a window");
  }
});
