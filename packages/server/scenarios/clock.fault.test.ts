import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Task, windowAt } from "@lethe/core/message";
import { expect, it, onTestFinished } from "vitest";
import { openDataFolder } from "../dist/storage/data-folder.js";
import { askToEnrol, type Device, enrolMany, fetchTask, type KnownTask, reportOf, upload } from "../test/device.ts";
import { eventually } from "../test/eventually.ts";
import { copyEmptyDatabase, temporaryFolder } from "../test/folder.ts";
import { windowsIn } from "../test/key-file.ts";
import { processesOnPostgres } from "../test/processes.ts";
import { releaseOf } from "../test/recount.ts";
import { ADMIN_TOKEN, asAdmin, createTask, EXACT_TASK } from "../test/service.ts";
import { type ServiceProcess, startServiceProcess } from "../test/service-process.ts";
import { createShiftedClock, type ShiftedClock } from "../test/shifted-clock.ts";

const DAYS = 86_400;
/** Together shorter than what a clock may be set by, so that a test need not wait for them. */
const TASK: Task = { ...EXACT_TASK, tickSeconds: 15, ticks: 2, graceSeconds: 20 };
const TO_THE_END = 50;
/** For tests that start many processes. */
const SLOW_TASK: Task = { ...TASK, tickSeconds: 600, graceSeconds: 600 };
const MOMENT_MS = 500;

/** In the midst of a window of weeks, which is open three days ago and in three days, too. */
function longTask(now: number): Task {
  const isMidst = (days: number): boolean => Math.abs(((now / DAYS) % days) - days / 2) < days / 2 - 4;
  const days = [30, 41, 53, 67].find(isMidst) as number;
  return { ...EXACT_TASK, task: "long", tickSeconds: DAYS, ticks: days };
}

/** A service on an embedded database, in processes whose clock a test sets; nothing else is changed. */
interface Shifted {
  readonly clock: ShiftedClock;
  readonly keyFile: string;
  start(more?: { readonly acceptClock: true }): Promise<ServiceProcess>;
  /** What the log says of the clock. */
  told(): string[];
  /** Something in the database, while no process runs. */
  change(sql: string): Promise<void>;
}

async function createShifted(): Promise<Shifted> {
  const folder = temporaryFolder();
  const settings = {
    data: join(folder, "data"),
    keyFile: join(folder, "keys"),
    logFile: join(folder, "log"),
    adminToken: ADMIN_TOKEN,
    host: "127.0.0.1",
    port: 0,
    threads: 1,
    keysAhead: 20,
  };
  await copyEmptyDatabase(settings.data);
  const clock = createShiftedClock(SLOW_TASK);
  return {
    clock,
    keyFile: settings.keyFile,
    start: async (more) => {
      const started = await startServiceProcess({ ...settings, ...more }, { clock });
      onTestFinished(() => started.kill().catch(() => undefined));
      return started;
    },
    told: () => {
      const lines = readFileSync(settings.logFile, "utf8").trim().split("\n");
      return lines.flatMap((line) => (/"msg":"(the clock [^"]*)"/.exec(line)?.[1] ? [line] : []));
    },
    change: async (sql) => {
      const database = await openDataFolder(settings.data);
      await database.query(sql);
      await database.close();
    },
  };
}

/** Devices that are enrolled in the running window, half of which have reported. */
interface Collecting {
  readonly task: KnownTask;
  readonly window: number;
  readonly devices: readonly Device[];
}

const DEVICES = 6;

async function collect(service: ServiceProcess, clock: ShiftedClock, declared = TASK): Promise<Collecting> {
  await createTask(service, declared);
  const task = await fetchTask(service, declared.task);
  const window = windowAt(declared, clock.now());
  const devices = await enrolMany(service, task, window, DEVICES);
  await sendAll(service, devices.slice(0, DEVICES / 2));
  return { task, window, devices };
}

async function sendAll(service: ServiceProcess, devices: readonly Device[]): Promise<void> {
  for (const device of devices) expect((await upload(service, device, reportOf(device, "happened"))).status).toBe(201);
}

const readiness = async (service: ServiceProcess): Promise<string> => (await fetch(`${service.url}/readyz`)).text();

const inDoubt = async (service: ServiceProcess): Promise<string | undefined> =>
  /^lethe_clock_in_doubt (\d)$/m.exec(await (await fetch(`${service.url}/metrics`)).text())?.[1];

/** Asked again later: a 503 that says why and for how long, and no code that a device takes for final. */
async function expectLater(response: Response): Promise<void> {
  const text = await response.text();
  expect({ status: response.status, text }).toEqual({
    status: 503,
    text: expect.stringContaining("clock is in doubt"),
  });
  expect(JSON.parse(text)).not.toHaveProperty("code");
  expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
}

/**
 * For longer than a service with a right clock takes to release and erase, it does neither, and sends nobody away for
 * good.
 */
async function requireHeld(service: ServiceProcess, now: number, keyFile: string, held: Collecting): Promise<void> {
  const { task, window, devices } = held;
  const until = performance.now() + MOMENT_MS;
  const last = devices.at(-1) as Device;
  do {
    await expectLater(await upload(service, last, reportOf(last, "happened")));
    // The running window by the wrong clock, for which nothing must be promised; and the one that has keys.
    for (const wrong of [Math.max(windowAt(task.manifest, now), window + 2), window + 1])
      await expectLater(await askToEnrol(service, task.name, wrong));
    const release = await fetch(`${service.url}/v1/tasks/${task.name}/releases/${window}`);
    expect(release.status).toBe(425);
    await sleep(50);
  } while (performance.now() < until);
  expect(windowsIn(keyFile, task.name)).toContain(window);
  await expectLater(await asAdmin(service, "/v1/tasks", { ...TASK, task: "another" }));
}

/** All that devices sent is in the release, at the time that it is due. */
async function requireReleased(service: ServiceProcess, { task, window }: Collecting, reports: number): Promise<void> {
  const release = await releaseOf(service, task, window);
  expect(release).toMatchObject({ status: "released", received: reports });
  const [metric] = release.metrics as readonly { readonly estimate: number }[];
  expect(metric?.estimate).toBeCloseTo(reports, 3);
}

it.each([
  ["ahead", 3 * DAYS],
  ["back", -3 * DAYS],
])(
  "a clock that jumps %s while the service runs ends nothing and drops nobody, and all goes on when it is back",
  async (_, jump) => {
    const { clock, keyFile, start, told } = await createShifted();
    const service = await start();
    const held = await collect(service, clock);
    const long = longTask(clock.now());
    await createTask(service, long);
    const [first, second] = await enrolMany(
      service,
      await fetchTask(service, long.task),
      windowAt(long, clock.now()),
      2,
    );

    clock.jump(jump);
    // Whatever the time is, this window is open.
    await sendAll(service, [first as Device]);
    expect((await askToEnrol(service, long.task, (first as Device).window)).status).toBe(201);
    await requireHeld(service, clock.now(), keyFile, held);
    expect(await readiness(service)).toMatch(
      /^not ready: clocks-apart: the clock says \S+Z, and by the time that has passed it is \S+Z: nothing is closed, released or erased\. .*--accept-clock\n$/,
    );
    expect(await inDoubt(service)).toBe("1");
    // Once, however often it looks.
    await eventually(async () => told()[0]);
    await sleep(1200);
    expect(told().map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ level: 50, code: "clocks-apart", msg: "the clock is in doubt" }),
    ]);

    clock.jump(-jump);
    expect(await inDoubt(service)).toBe("0");
    await eventually(async () => ((await readiness(service)) === "ready\n" ? true : undefined));
    await sendAll(service, [...held.devices.slice(DEVICES / 2), second as Device]);
    expect((await fetch(`${service.url}/v1/tasks/${TASK.task}/releases/${held.window}`)).status).toBe(425);
    // Set by less than a minute, as by NTP: that is time like any other.
    clock.jump(TO_THE_END);
    await requireReleased(service, held, DEVICES);
    await eventually(async () => told()[1]);
    expect(JSON.parse(told()[1] as string)).toMatchObject({ level: 30, msg: "the clock is right again" });
  },
);

it("a clock that jumped while the service was off is noticed, and the operator's word ends the doubt", async () => {
  const { clock, keyFile, start } = await createShifted();
  const before = await start();
  const held = await collect(before, clock, SLOW_TASK);
  // Nothing was stored at the end.
  await before.kill();

  clock.jump(-3 * DAYS);
  const behind = await start();
  await requireHeld(behind, clock.now(), keyFile, held);
  expect(await readiness(behind)).toMatch(/^not ready: clocks-apart: /);
  expect(await behind.end()).toBe(0);

  clock.jump(6 * DAYS);
  const ahead = await start();
  await requireHeld(ahead, clock.now(), keyFile, held);
  expect(await readiness(ahead)).toMatch(/^not ready: clocks-apart: /);
  // By itself, without a restart.
  clock.jump(-3 * DAYS);
  await eventually(async () => ((await readiness(ahead)) === "ready\n" ? true : undefined));
  await sendAll(ahead, held.devices.slice(DEVICES / 2));
  expect(await ahead.end()).toBe(0);

  // The machine stood still for three days, say, and its other clocks with it.
  clock.jump(3 * DAYS);
  const accepting = await start({ acceptClock: true });
  await requireReleased(accepting, held, DEVICES);
  expect(await accepting.end()).toBe(0);
  // It was believed, and is stored.
  expect(await readiness(await start())).toBe("ready\n");
});

it("a service that was off for days goes on by itself if the machine has counted them, else on the operator's word", async () => {
  const { clock, start, change } = await createShifted();
  const before = await start();
  const held = await collect(before, clock, SLOW_TASK);
  expect(await before.end()).toBe(0);

  clock.jump(3 * DAYS);
  await change("UPDATE clock SET boot = 'not ' || boot");
  const unknown = await start();
  const [, , , last] = held.devices as [Device, Device, Device, Device];
  await expectLater(await upload(unknown, last, reportOf(last)));
  expect(await readiness(unknown)).toMatch(/ the last time stored is \S+Z: .* restart once with --accept-clock\n$/);
  expect(await unknown.end()).toBe(0);

  await change(
    `UPDATE clock SET boot = substr(boot, 5), monotonic = monotonic - ${3 * DAYS}, uptime = uptime - ${3 * DAYS}`,
  );
  const known = await start();
  expect(await readiness(known)).toBe("ready\n");
  await requireReleased(known, held, DEVICES / 2);
});

const onPostgres = processesOnPostgres();

it("a process whose clock is not PostgreSQL's does nothing that cannot be undone, and others go on", async () => {
  const { start } = await onPostgres();
  const task: Task = { ...TASK, tickSeconds: DAYS, ticks: 1, graceSeconds: 600 };
  const [tallys, intakes] = [createShiftedClock(TASK), createShiftedClock(TASK)];
  // The first on this database: there is no time stored that it could be compared with.
  tallys.jump(3 * DAYS);
  const wrong = await start("tally", tallys);
  await expectLater(await asAdmin(wrong, "/v1/tasks", task));
  expect(await readiness(wrong)).toMatch(/, and the database server's says \S+Z: .* Set both clocks, by NTP\n$/);

  const [right, intake] = await Promise.all([start("tally"), start("intake", intakes)]);
  await createTask(right, task);
  const known = await eventually(async () =>
    fetchTask({ ...intake, operatorKey: right.operatorKey }, task.task).catch(() => undefined),
  );
  const window = windowAt(task, Date.now() / 1000);
  const service = { ...intake, operatorKey: right.operatorKey };
  const devices = await enrolMany(service, known, window, 2);
  await sendAll(service, devices.slice(0, 1));
  await sleep(MOMENT_MS);
  const status = await fetch(`${right.url}/v1/tasks/${task.task}/windows/${window}`);
  expect(await status.json()).toMatchObject({ state: "open", received: 1 });

  intakes.jump(3 * DAYS);
  await expectLater(await upload(service, devices[1] as Device, reportOf(devices[1] as Device)));
  intakes.jump(-3 * DAYS);
  await eventually(async () => ((await readiness(intake)) === "ready\n" ? true : undefined));
  await sendAll(service, devices.slice(1));
  tallys.jump(-3 * DAYS);
  await eventually(async () => ((await readiness(wrong)) === "ready\n" ? true : undefined));
});
