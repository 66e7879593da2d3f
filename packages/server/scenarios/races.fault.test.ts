import { readdirSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { DEVICE_BYTES, encodeBase64url, type Task } from "@lethe/core/message";
import { expect, it } from "vitest";
import { createRefusalCounter } from "../dist/intake/refusals.js";
import { fillPool } from "../dist/rounds/windows.js";
import { type Database, DatabaseUnavailable } from "../dist/storage/database.js";
import { leaseReports } from "../dist/storage/reports.js";
import { type Bundle, claimSpareKeys } from "../dist/storage/spare-keys.js";
import { lockTally } from "../dist/storage/tallies.js";
import { createTaskRegistry, type TaskVersion } from "../dist/storage/tasks.js";
import { findWindow, type WindowRow } from "../dist/storage/windows.js";
import { openKeyFile } from "../dist/tally/key-file.js";
import type { Threads } from "../dist/tally/threads.js";
import { enrol, fetchTask, type KnownTask, reportOf, upload } from "../test/device.ts";
import { eventually } from "../test/eventually.ts";
import { readKeyFile } from "../test/key-file.ts";
import { countedReports } from "../test/metrics.ts";
import {
  allCounted,
  MONTHS_TASK,
  makeReports,
  type Processes,
  processesOnPostgres,
  requireCountedBy,
  sendAll,
  WINDOW,
} from "../test/processes.ts";
import { releaseOf, requireCountedOnce, requireErased, requireReleased, type Sent } from "../test/recount.ts";
import { closeByHand, createTask } from "../test/service.ts";
import type { ServiceProcess } from "../test/service-process.ts";

const OTHER_TASK: Task = { ...MONTHS_TASK, task: "other" };
const onEmptyDatabase = processesOnPostgres();

/** A tally with a task, and three intakes. */
async function threeIntakes(): Promise<{
  readonly tally: ServiceProcess;
  readonly intakes: readonly ServiceProcess[];
  readonly task: KnownTask;
  readonly database: Database;
  readonly keyFile: string;
}> {
  const processes = await onEmptyDatabase();
  const tally = await processes.start("tally");
  await createTask(tally, MONTHS_TASK);
  const intakes = await Promise.all([1, 2, 3].map(() => processes.start("intake")));
  const task = await fetchTask(tally, MONTHS_TASK.task);
  return { tally, intakes, task, database: await processes.openDatabase(), keyFile: processes.keyFile };
}

it("the same upload, any number of times at once at three intakes, is stored and counted once", async () => {
  const { tally, intakes, task, database, keyFile } = await threeIntakes();
  const [first] = intakes as [ServiceProcess];
  const sent: Sent[] = [];
  for (const times of [1, 2, 2, 2, 2, 3, 3, 3, 3, 100, 100, 100]) {
    const [made] = (await makeReports(first, task, 1)) as [Sent];
    sent.push(made);
    const uploads = Array.from({ length: times }, (_, i) =>
      upload(intakes[i % intakes.length] as ServiceProcess, made.device, made.report),
    );
    const statuses = (await Promise.all(uploads)).map(({ status }) => status);
    expect(statuses.sort()).toEqual([...Array.from({ length: times - 1 }, () => 200), 201]);
  }
  await allCounted(database, task, sent.length);
  await requireCountedOnce(database, keyFile, task, WINDOW, sent);
  await requireCountedBy([tally], sent.length);
});

it("of different reports of one device at once at three intakes one wins, everywhere", async () => {
  const { intakes, task, database, keyFile } = await threeIntakes();
  const [first] = intakes as [ServiceProcess];
  const winners: Sent[] = [];
  for (let round = 0; round < 20; round++) {
    const device = await enrol(first, task, WINDOW);
    // Every encryption is another.
    const reports = intakes.map(() => reportOf(device));
    const answers = await Promise.all(
      reports.map((report) =>
        Promise.all(intakes.map(async (intake) => (await upload(intake, device, report)).status)),
      ),
    );
    const [won, ...lost] = answers.map((statuses) => statuses.sort()).sort(([a = 0], [b = 0]) => a - b);
    expect(won).toEqual([200, 200, 201]);
    for (const statuses of lost) expect(statuses).toEqual([409, 409, 409]);
    const report = reports.find((_, i) => answers[i] === won) as Uint8Array;
    winners.push({ device, report, acknowledged: true });
  }
  await allCounted(database, task, winners.length);
  await requireCountedOnce(database, keyFile, task, WINDOW, winners);
});

it("groups of the same reports in any order at three intakes do not stop one another", async () => {
  const { tally, intakes, task, database } = await threeIntakes();
  const [first, second, third] = intakes as [ServiceProcess, ServiceProcess, ServiceProcess];
  await createTask(tally, OTHER_TASK);
  const other = await fetchTask(tally, OTHER_TASK.task);
  const made = await Promise.all([task, other].map((either) => makeReports(first, either, 80)));
  // The windows in turn, so that groups hold both.
  const reports = made.flat().sort((a, b) => Buffer.compare(a.device.id, b.device.id));
  const interleaved = [...reports.keys()].map((i) => reports[(i * 7) % reports.length] as Sent);
  const [forth, back, across] = await Promise.all([
    sendAll(first, reports),
    sendAll(second, reports.toReversed()),
    sendAll(third, interleaved),
  ]);
  for (const [i, sent] of reports.entries()) {
    const answers = [forth[i], back[reports.length - 1 - i], across[interleaved.indexOf(sent)]];
    expect(answers.sort()).toEqual([200, 200, 201]);
  }
  await allCounted(database, task, 80);
  await allCounted(database, other, 80);
  const [found] = await database.query<{ deadlocks: number }>(
    "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()",
  );
  expect(found?.deadlocks).toBe(0);
});

it("no bundle of keys goes to two who claim at once, and none is left out", async () => {
  const processes = await onEmptyDatabase();
  const databases = await Promise.all([processes.openDatabase(), processes.openDatabase()]);
  const [database] = databases;
  await database.query(
    `INSERT INTO spare_keys (window_id, pool, entries, devices, public_keys, signatures)
     SELECT 1, i % 5, 1, decode(lpad(to_hex(i), 32, '0'), 'hex'), '\\x00', decode(repeat('00', 64), 'hex')
     FROM generate_series(1, 600) AS i`,
  );
  const work = async (own: Database, place: number): Promise<string[]> => {
    const claimed: string[] = [];
    for (;;) {
      const got = await claimSpareKeys(own, 1, place, 7);
      if (got.length === 0) return claimed;
      claimed.push(...got.map(({ device }) => encodeBase64url(device)));
    }
  };
  const claimed = (await Promise.all([...databases, ...databases, ...databases].map(work))).flat();
  expect(claimed).toHaveLength(600);
  expect(new Set(claimed).size).toBe(600);
});

it("no report is leased to two who ask at once", async () => {
  const processes = await onEmptyDatabase();
  const databases = await Promise.all([processes.openDatabase(), processes.openDatabase()]);
  const [database] = databases;
  await database.query(
    "INSERT INTO uncounted (window_id, device) SELECT 1, decode(lpad(to_hex(i), 32, '0'), 'hex') FROM generate_series(1, 600) AS i",
  );
  await database.query("INSERT INTO reports (window_id, device, body) SELECT 1, device, device FROM uncounted");
  const work = async (own: Database): Promise<string[]> => {
    const leased: string[] = [];
    for (;;) {
      const got = await leaseReports(own, 1, crypto.getRandomValues(new Uint8Array(16)), 7, 60);
      if (got.length === 0) return leased;
      leased.push(...got.map(({ device }) => encodeBase64url(device)));
    }
  };
  const leased = (await Promise.all([...databases, ...databases, ...databases].map(work))).flat();
  expect(leased).toHaveLength(600);
  expect(new Set(leased).size).toBe(600);
});

it("two tallies that count one window together count every report once", async () => {
  const processes = await onEmptyDatabase();
  const tallies = await Promise.all([processes.start("tally"), processes.start("tally")]);
  const [first] = tallies;
  await createTask(first, MONTHS_TASK);
  const task = await fetchTask(first, MONTHS_TASK.task);
  const intake = await processes.start("intake");
  const database = await processes.openDatabase();
  const reports: Sent[] = [];
  let counted: number[];
  // On a busy machine, one tally may take a whole wave before the other has woken up.
  do {
    const made = await makeReports(intake, task, 100);
    // They find all of them at the same moment.
    for (const tally of tallies) tally.pause();
    for (const status of await sendAll(intake, made)) expect(status).toBe(201);
    for (const tally of tallies) tally.resume();
    reports.push(...made);
    await allCounted(database, task, reports.length);
    counted = await requireCountedBy(tallies, reports.length);
  } while (reports.length < 300 || (Math.min(...counted) === 0 && reports.length < 3000));
  expect(Math.min(...counted)).toBeGreaterThan(0);
  await requireCountedOnce(database, processes.keyFile, task, WINDOW, reports);
});

/** A tally that is paused while it counts. */
interface PausedTally {
  readonly processes: Processes;
  readonly database: Database;
  readonly paused: ServiceProcess;
  readonly intake: ServiceProcess;
  readonly task: KnownTask;
  readonly reports: readonly Sent[];
}

async function pausedTally(): Promise<PausedTally> {
  const processes = await onEmptyDatabase();
  const paused = await processes.start("tally");
  await createTask(paused, MONTHS_TASK);
  const task = await fetchTask(paused, MONTHS_TASK.task);
  const intake = await processes.start("intake");
  const database = await processes.openDatabase();
  const reports: Sent[] = [];
  do {
    paused.resume();
    const made = await makeReports(intake, task, 60);
    paused.pause();
    for (const status of await sendAll(intake, made)) expect(status).toBe(201);
    reports.push(...made);
  } while (!(await pauseWithLeases(database, paused)));
  return { processes, database, paused, intake, task, reports };
}

/** Whether the tally could be stopped while it held leases, but not in the midst of a transaction. */
async function pauseWithLeases(database: Database, tally: ServiceProcess): Promise<boolean> {
  const look = async (): Promise<{ uncounted: number; leased: number }> => {
    const [found] = await database.query<{ uncounted: number; leased: number }>(
      "SELECT count(*) AS uncounted, count(lease) AS leased FROM uncounted",
    );
    return found ?? { uncounted: 0, leased: 0 };
  };
  tally.resume();
  for (let found = await look(); found.uncounted > 0 && found.leased === 0; found = await look());
  tally.pause();
  // What it asked for last has been done by then.
  await sleep(100);
  const inTransaction = await database.query("SELECT 1 FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'");
  return inTransaction.length === 0 && (await look()).leased > 0;
}

it("a tally paused past its lease adds nothing to what another has counted, and goes on", async () => {
  const { processes, database, paused, intake, task, reports } = await pausedTally();
  const other = await processes.start("tally");
  await allCounted(database, task, reports.length);
  await requireCountedOnce(database, processes.keyFile, task, WINDOW, reports);
  const byOther = await countedReports(other);
  expect(await other.end()).toBe(0);

  paused.resume();
  const more = await makeReports(intake, task, 30);
  for (const status of await sendAll(intake, more)) expect(status).toBe(201);
  const all = [...reports, ...more];
  await allCounted(database, task, all.length);
  await requireCountedBy([paused], all.length - byOther);
  expect(await paused.end()).toBe(0);
  await requireCountedOnce(database, processes.keyFile, task, WINDOW, all);
});

it("a tally paused past the release of its window changes nothing, and counts the next", async () => {
  const { processes, database, paused, intake, task, reports } = await pausedTally();
  const other = await processes.start("tally");
  await allCounted(database, task, reports.length);
  const sums = await requireCountedOnce(database, processes.keyFile, task, WINDOW, reports);
  expect((await closeByHand(other, task.name, WINDOW)).status).toBe(200);
  const release = await releaseOf(other, task, WINDOW);
  requireReleased(release, task, sums, reports.length);
  await requireAllErased(database);
  const byOther = await countedReports(other);
  expect(await other.end()).toBe(0);

  paused.resume();
  await createTask(paused, OTHER_TASK);
  const next = await fetchTask(paused, OTHER_TASK.task);
  const more = await makeReports(intake, next, 30);
  for (const status of await sendAll(intake, more)) expect(status).toBe(201);
  await allCounted(database, next, more.length);
  const sumsOfNext = await requireCountedOnce(database, processes.keyFile, next, WINDOW, more);
  expect((await closeByHand(paused, next.name, WINDOW)).status).toBe(200);
  requireReleased(await releaseOf(paused, next, WINDOW), next, sumsOfNext, more.length);
  await requireAllErased(database);
  await requireCountedBy([paused], reports.length + more.length - byOther);
  expect(await releaseOf(paused, task, WINDOW)).toEqual(release);
  for (const known of [task, next]) await requireErased(database, processes.keyFile, known, WINDOW);
});

async function requireAllErased(database: Database): Promise<void> {
  await eventually(async () => {
    const [left] = await database.query("SELECT id FROM windows WHERE state <> 'collecting' AND NOT erased");
    return left === undefined || undefined;
  });
}

it("keys that are made while another erases their window are thrown away", async () => {
  const processes = await onEmptyDatabase();
  const tally = await processes.start("tally");
  await createTask(tally, MONTHS_TASK);
  const task = await fetchTask(tally, MONTHS_TASK.task);
  const database = await processes.openDatabase();
  const tasks = createTaskRegistry(database);
  await tasks.refresh();
  const open = {
    row: (await findWindow(database, task.name, WINDOW)) as WindowRow,
    task: tasks.inWindow(task.name, WINDOW) as TaskVersion,
    ...{ database, place: { index: 0, of: 1 } },
  };
  const keyFile = openKeyFile(processes.keyFile, { severalProcesses: true });
  const run = async (): Promise<Bundle> => {
    await closeByHand(tally, task.name, WINDOW);
    await requireAllErased(database);
    const bytes = crypto.getRandomValues(new Uint8Array(64));
    return { devices: bytes.subarray(0, DEVICE_BYTES), publicKeys: bytes, signatures: bytes };
  };
  const threads = { count: 1, run, close: async () => undefined } as unknown as Threads;
  await fillPool({ database, threads, keyFile }, open, 1000);
  await requireErased(database, processes.keyFile, task, WINDOW);
});

it("what was refused is written down once, however often at once", async () => {
  const processes = await onEmptyDatabase();
  const tally = await processes.start("tally");
  await createTask(tally, MONTHS_TASK);
  const database = await processes.openDatabase();
  const refusals = createRefusalCounter(database, () => true);
  refusals.count(MONTHS_TASK.task, WINDOW, "report-differs");
  await Promise.all([refusals.flush(), refusals.flush()]);
  expect(await database.query("SELECT reason, requests FROM refusals")).toEqual([
    { reason: "report-differs", requests: 1 },
  ]);
});

it("who stands still in the midst of a transaction loses it, and does not hold up the others for ever", async () => {
  const processes = await onEmptyDatabase();
  const [stopped, other] = await Promise.all([processes.openDatabase(), processes.openDatabase()]);
  expect(await stopped.query("SHOW idle_in_transaction_session_timeout")).toEqual([
    { idle_in_transaction_session_timeout: "30s" },
  ]);
  await stopped.query("INSERT INTO tallies (window_id, counted, sealed) VALUES (1, 0, '')");
  const lost = stopped.transaction(async (transaction) => {
    await transaction.query("SET idle_in_transaction_session_timeout = '200ms'");
    await lockTally(transaction, 1, 0);
    await sleep(1000);
    await transaction.query("UPDATE tallies SET counted = 1");
  });
  const outcome = expect(lost).rejects.toThrow(DatabaseUnavailable);
  await sleep(50);
  await other.transaction(async (transaction) => {
    expect(await lockTally(transaction, 1, 0)).toMatchObject({ counted: 0 });
  });
  await outcome;
  expect(await stopped.query("SELECT counted FROM tallies")).toEqual([{ counted: 0 }]);
});

it.each(["all", "tally"] as const)(
  "three of role %s that begin together on nothing agree on one key file",
  async (role) => {
    const processes = await onEmptyDatabase();
    const started = await Promise.all([1, 2, 3].map(() => processes.start(role)));
    const [first] = started as [ServiceProcess];
    for (const { operatorKey } of started) expect(operatorKey).toBe(first.operatorKey);
    expect(readdirSync(dirname(processes.keyFile))).toEqual(["keys"]);
    const database = await processes.openDatabase();
    expect(await database.query("SELECT key FROM operator")).toEqual([{ key: first.operatorKey }]);
    const steps = await database.query<{ step: number }>("SELECT step FROM lethe_schema ORDER BY step");
    expect(steps.map(({ step }) => step)).toEqual(steps.map((_, i) => i + 1));

    // Each makes a task; all windows come from the one ratchet.
    const tasks = started.map((_, i) => ({ ...MONTHS_TASK, task: `task-${i}` }));
    await Promise.all(started.map((service, i) => createTask(service, tasks[i] as Task)));
    for (const service of started) for (const { task } of tasks) await fetchTask(service, task);
    const names = tasks.flatMap(({ task }) => [`${task}/${WINDOW}`, `${task}/${WINDOW + 1}`]);
    await eventually(async () => {
      const windows = await database.query("SELECT id FROM windows");
      return windows.length === names.length || undefined;
    });
    expect(Object.keys(readKeyFile(processes.keyFile).windows).sort()).toEqual(names.sort());
  },
);
