import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openDataFolder } from "../../server/dist/storage/data-folder.js";
import { askToEnrol, inGroup } from "../../server/test/device.ts";
import { eventually } from "../../server/test/eventually.ts";
import { temporaryFolder } from "../../server/test/folder.ts";
import { YEAR_TASK } from "../../server/test/recount.ts";
import { asAdmin } from "../../server/test/service.ts";
import { unlessGone } from "../../server/test/service-process.ts";
import type { letheWith, RunningService } from "../test/lethe.ts";
import {
  emptyPlace,
  longLivedServices,
  makeSender,
  makeTask,
  type Place,
  refusedStart,
  type Sender,
  sendAll,
  statusOf,
  textAt,
  WINDOW,
} from "../test/long-lived.ts";
import { createSmallDisk } from "../test/small-disk.ts";

const start = longLivedServices();
const times = <T>(count: number, make: () => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, make));
const repeated = <T>(value: T, count: number): T[] => Array.from({ length: count }, () => value);
const linesWith = (text: string, part: string): number => text.split("\n").filter((line) => line.includes(part)).length;

it("a full disk is answered with 503 and a reason, and when it has room again everything goes on, with nothing lost", async () => {
  const disk = createSmallDisk();
  const service = await start(await emptyPlace(disk.folder), { args: disk.options });
  const task = await makeTask(service);
  const [sent, unsent] = [
    await times(10, () => makeSender(service, task)),
    await times(10, () => makeSender(service, task)),
  ];
  expect(await sendAll(sent, service)).toEqual(repeated(201, 10));
  expect(await textAt(service, "/readyz")).toMatchObject({ status: 200 });

  disk.fill();
  const enrol = () => askToEnrol(service, task.name, WINDOW, inGroup(YEAR_TASK.groups?.[0]));
  expect(await times(100, () => statusOf(enrol()))).toEqual(repeated(503, 100));
  expect(await sendAll(unsent, service)).toEqual(repeated(503, 10));
  const refused = [await enrol(), await asAdmin(service, "/v1/tasks", { ...YEAR_TASK, task: "another" })];
  for (const response of refused) {
    expect(response.status).toBe(503);
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(response.headers.get("content-type")).toContain("application/problem+json");
    expect(await response.json()).toMatchObject({ status: 503, detail: expect.stringContaining("disk space") });
  }
  expect(await textAt(service, "/healthz")).toEqual({ status: 200, text: "ok\n" });
  expect(await textAt(service, "/readyz")).toMatchObject({ status: 503, text: expect.stringContaining("disk space") });
  expect(await textAt(service, "/metrics")).toMatchObject({
    status: 200,
    text: expect.stringMatching(/^lethe_disk_low 1$/m),
  });

  disk.free();
  await eventually(async () => ((await textAt(service, "/readyz")).status === 200 ? true : undefined));
  expect(await sendAll(unsent, service)).toEqual(repeated(201, 10));
  expect(await sendAll(sent, service)).toEqual(repeated(200, 10));
  expect(await (await makeSender(service, task)).send(service)).toBe(201);
  service.process.kill("SIGTERM");
  const { status, stderr } = await service.ended;
  expect({ status, stderr }).toEqual({ status: 0, stderr });
  expect([linesWith(stderr, "too little disk space"), linesWith(stderr, "enough disk space again")]).toEqual([1, 1]);
  expect(stderr).not.toContain("request failed");
});

/** Writes some of the database's log, and returns how far its first file of 16 MB is used; from three quarters on the next is prepared. */
async function useUpLog({ data }: Place): Promise<number> {
  const database = await openDataFolder(data);
  let written = 0;
  while (written < 11_000_000) {
    const [row] = await database.query<{ written: number }>(
      `SELECT (pg_logical_emit_message(false, 'test', repeat($1, 200000)) - '0/0'::pg_lsn)::bigint % 16777216 AS written`,
      ["x"],
    );
    written = row?.written ?? 0;
  }
  await database.close();
  return written;
}

it("a database that cannot write its log ends the process with code 3, and what was acknowledged is there after a restart", async () => {
  const place = await emptyPlace(temporaryFolder());
  const limit = (await useUpLog(place)) + 600_000;
  // Writing past it fails, as on a full disk, for everybody and on every file system.
  const service = await start(place, { within: ["prlimit", `--fsize=${limit}`] });
  const task = await makeTask(service);
  const acknowledged: Sender[] = [];
  const refusals: number[] = [];
  const work = async (): Promise<void> => {
    while (service.process.exitCode === null) {
      // Without an answer it has ended, or its keys take long on a busy machine.
      const sender = await makeSender(service, task).catch(() => undefined);
      const status = await sender?.send(service).catch(unlessGone);
      if (sender && status === 201) acknowledged.push(sender);
      else if (status !== undefined) refusals.push(status);
    }
  };
  const working = times(4, work);
  const { status, stderr } = await service.ended;
  await working;
  expect(status).toBe(3);
  expect(linesWith(stderr, "the service cannot go on")).toBe(1);
  // It says so, or, where its panic is lost, its silence ends it.
  expect(stderr).toMatch(
    /the database gave up, start again: could not write .*: File too large|the database's thread has not answered for \d+ s/,
  );
  expect(new Set(refusals)).toEqual(new Set(refusals.length > 0 ? [503] : []));
  expect(acknowledged.length).toBeGreaterThan(0);

  const again = await start(place);
  expect(new Set(await sendAll(acknowledged, again))).toEqual(new Set([200]));
});

/** From now on the database's thread never comes back from making a task. */
async function makeTasksSpin({ data }: Place): Promise<void> {
  const database = await openDataFolder(data);
  await database.query("CREATE FUNCTION spin() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN LOOP END LOOP; END'");
  await database.query("CREATE TRIGGER spin BEFORE INSERT ON tasks FOR EACH ROW EXECUTE FUNCTION spin()");
  await database.close();
}

/** Resolves when readiness takes longer than an honest database needs. */
async function untilStuck({ url }: RunningService): Promise<void> {
  await eventually(() =>
    fetch(`${url}/readyz`, { signal: AbortSignal.timeout(1000) }).then(
      () => undefined,
      () => true,
    ),
  );
}

it("a database thread that does not answer ends the process with code 3; meanwhile health answers", async () => {
  const place = await emptyPlace(temporaryFolder());
  await makeTasksSpin(place);
  const service = await start(place, { args: ["--database-timeout", "9"] });
  const asked = asAdmin(service, "/v1/tasks", YEAR_TASK);
  await untilStuck(service);
  const [created, ready, metrics, health] = await Promise.all([
    statusOf(asked),
    textAt(service, "/readyz"),
    textAt(service, "/metrics"),
    textAt(service, "/healthz"),
  ]);
  expect(created).toBe(503);
  expect(ready).toEqual({ status: 503, text: "not ready: the database has not answered for 5 s\n" });
  expect([metrics.status, health.status]).toEqual([200, 200]);
  const { status, stderr } = await service.ended;
  expect(status).toBe(3);
  expect(linesWith(stderr, "the service cannot go on")).toBe(1);
  expect(stderr).toContain("the database's thread has not answered for 9 s");
});

it("SIGTERM ends a service whose database thread does not answer", async () => {
  const place = await emptyPlace(temporaryFolder());
  await makeTasksSpin(place);
  const service = await start(place, { args: ["--database-timeout", "86400"] });
  const asked = asAdmin(service, "/v1/tasks", YEAR_TASK).catch(unlessGone);
  await untilStuck(service);
  service.process.kill("SIGTERM");
  const { status, stderr } = await service.ended;
  expect(status).toBe(3);
  expect(stderr).toContain("the database's thread has not answered for");
  await asked;
});

it("a start where nothing can be written is refused with one line and code 2 that says why, and leaves nothing", async () => {
  const disk = createSmallDisk();
  const place = await emptyPlace(disk.folder);
  const before = readdirSync(place.data);
  const refused = (path: string, reason: RegExp, { status, stdout, stderr }: ReturnType<typeof letheWith>): void => {
    expect({ status, stdout, stderr }).toEqual({
      status: 2,
      stdout: "",
      stderr: expect.stringMatching(/^error: [^\n]*\n$/),
    });
    expect(stderr).toContain(path);
    expect(stderr).toMatch(reason);
  };
  // Nobody may make a folder there, whatever the kernel says about it.
  refused("/sys/lethe", /(read-only|permission denied) \(E[A-Z]+\)\n/, refusedStart({ ...place, data: "/sys/lethe" }));
  refused(
    "/sys/lethe",
    /(read-only|permission denied) \(E[A-Z]+\)\n/,
    refusedStart({ ...place, keyFile: "/sys/lethe" }),
  );
  if (!disk.isOwn) return;
  disk.fill();
  refused(place.data, /no space is left on the disk \(ENOSPC\)\n/, refusedStart(place));
  const other = join(disk.folder, "keys");
  disk.free();
  expect(readdirSync(place.data)).toEqual(before);
  expect(statSync(other, { throwIfNoEntry: false })).toBeUndefined();
});
