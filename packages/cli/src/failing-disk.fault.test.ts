import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { canMakeDisks, makeFaultyDisk } from "../../files/test/faulty-disk.ts";
import { fetchTask } from "../../server/test/device.ts";
import { eventually } from "../../server/test/eventually.ts";
import { temporaryFolder } from "../../server/test/folder.ts";
import { windowsIn } from "../../server/test/key-file.ts";
import { YEAR_TASK } from "../../server/test/recount.ts";
import { asAdmin, closeByHand } from "../../server/test/service.ts";
import { unlessGone } from "../../server/test/service-process.ts";
import type { RunningService } from "../test/lethe.ts";
import {
  emptyPlace,
  longLivedServices,
  makeSender,
  makeTask,
  type Place,
  refusedStart,
  type Sender,
  sendAll,
  textAt,
  WINDOW,
} from "../test/long-lived.ts";

const start = longLivedServices();
const MEGABYTES = 200;
const DEVICES = 4;
const all = <T>(value: T): T[] => Array.from({ length: DEVICES }, () => value);

async function makeSenders(service: RunningService, task: Awaited<ReturnType<typeof makeTask>>): Promise<Sender[]> {
  return Promise.all(all(undefined).map(() => makeSender(service, task)));
}

function expectRefused(place: Place, message: RegExp): void {
  const { status, stdout, stderr } = refusedStart(place);
  expect({ status, stdout, stderr }).toEqual({ status: 2, stdout: "", stderr: expect.stringMatching(message) });
  expect(stderr.trim().split("\n")).toHaveLength(1);
}

it.skipIf(!canMakeDisks).each([
  ["full", /no space is left on the disk \(ENOSPC\)/],
  ["read-only", /the file system is read-only \(EROFS\)/],
] as const)(
  "while the disk of the key file is %s, windows that began go on, nothing new begins, and the reason is named",
  async (fault, reason) => {
    const disk = makeFaultyDisk(4);
    const place = { ...(await emptyPlace(temporaryFolder())), keyFile: join(disk.folder, "keys") };
    const service = await start(place);
    const task = await makeTask(service);
    const senders = await makeSenders(service, task);

    if (fault === "full") disk.fill();
    else disk.makeReadOnly();
    const refused = await asAdmin(service, "/v1/tasks", { ...YEAR_TASK, task: "another" });
    const problem = (await refused.json()) as { detail: string };
    console.log(JSON.stringify({ fault, status: refused.status, problem }));
    expect(refused.status).toBe(503);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(problem.detail).toContain("the task is stored, but its windows cannot begin");
    expect(problem.detail).toMatch(reason);
    const ready = await eventually(async () => {
      const answer = await textAt(service, "/readyz");
      return answer.status === 503 ? answer.text : undefined;
    });
    expect(ready).toContain(`not ready: bad-key-file: the key file ${place.keyFile} cannot be made or changed`);
    expect(ready).toMatch(reason);
    expect(await sendAll(senders, service)).toEqual(all(201));
    expect(await (await makeSender(service, task)).send(service)).toBe(201);

    if (fault === "full") disk.free();
    else disk.makeWritable();
    await eventually(async () => ((await textAt(service, "/readyz")).status === 200 ? true : undefined));
    expect((await asAdmin(service, "/v1/tasks", { ...YEAR_TASK, task: "another" })).status).toBe(200);
    const other = await fetchTask(service, "another");
    expect(await (await makeSender(service, other)).send(service)).toBe(201);
    expect(await sendAll(senders, service)).toEqual(all(200));
  },
);

it.skipIf(!canMakeDisks)(
  "a data folder on a disk that fails ends the service with a code and a reason, and no start takes it for a new or a damaged one",
  async () => {
    const disk = makeFaultyDisk(MEGABYTES);
    const place = await emptyPlace(disk.folder);
    const service = await start(place, { args: ["--database-timeout", "9"] });
    const task = await makeTask(service);
    const senders = await makeSenders(service, task);
    expect(await sendAll(senders, service)).toEqual(all(201));
    disk.cut();
    const statuses = new Set<number | undefined>();
    while (service.process.exitCode === null) {
      const sender = await makeSender(service, task).catch(() => undefined);
      statuses.add(await sender?.send(service).catch(unlessGone));
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    const { status, stderr } = await service.ended;
    console.log(JSON.stringify({ statuses: [...statuses], status, stderr: stderr.split("\n").slice(-4) }));
    expect([3, 4]).toContain(status);
    expect(stderr.match(/the service cannot go on/g)).toHaveLength(1);
    expect([...statuses].filter((each) => each !== undefined && each !== 503)).toEqual([]);
    expectRefused(
      place,
      /^error: the data folder .* cannot be used: (the disk failed \(EIO\)|the file system is read-only \(EROFS\))\n$/,
    );
  },
);

it.skipIf(!canMakeDisks)(
  "a disk that becomes read-only under the database ends the service with a reason, and a start there is refused with it",
  async () => {
    const disk = makeFaultyDisk(MEGABYTES);
    const place = await emptyPlace(disk.folder);
    const service = await start(place, { args: ["--database-timeout", "9"] });
    const task = await makeTask(service);
    disk.abort();
    while (service.process.exitCode === null) {
      await makeSender(service, task)
        .then((sender) => sender.send(service))
        .catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    const { status, stderr } = await service.ended;
    console.log(JSON.stringify({ status, stderr: stderr.split("\n").slice(-3) }));
    expect([3, 4]).toContain(status);
    expect(stderr.match(/the service cannot go on/g)).toHaveLength(1);
    expectRefused(place, /^error: the data folder .* cannot be used: the file system is read-only \(EROFS\)\n$/);
  },
);

it.skipIf(!canMakeDisks)(
  "when power fails after a window was erased, its release is on the disk, and its secret is not",
  async () => {
    const disk = makeFaultyDisk(MEGABYTES);
    const place = { ...(await emptyPlace(disk.folder)), keyFile: join(disk.folder, "keys") };
    const service = await start(place);
    const task = await makeTask(service);
    expect(await sendAll(await makeSenders(service, task), service)).toEqual(all(201));
    expect((await closeByHand(service, task.name, WINDOW)).status).toBe(200);
    await eventually(async () => (windowsIn(place.keyFile, task.name).includes(WINDOW) ? undefined : true));
    const released = await textAt(service, `/v1/tasks/${task.name}/releases/${WINDOW}`);
    expect(released.status).toBe(200);

    disk.cut();
    service.process.kill("SIGKILL");
    await service.ended;
    disk.mountAgain();
    expect(windowsIn(place.keyFile, task.name)).not.toContain(WINDOW);
    const again = await start(place);
    expect(again.operatorKey).toBe(service.operatorKey);
    expect(await textAt(again, `/v1/tasks/${task.name}/releases/${WINDOW}`)).toEqual(released);
  },
);

it("a disk that fails to sync the database ends the service with a reason, before a secret is destroyed", async () => {
  const place = await emptyPlace(temporaryFolder());
  const flag = join(temporaryFolder(), "failing");
  const preload = fileURLToPath(new URL("../test/failing-sync.cjs", import.meta.url));
  const failing = ["env", `LETHE_TEST_FAILING_SYNC=${flag}`, `NODE_OPTIONS=--require ${JSON.stringify(preload)}`];
  const service = await start(place, { within: failing });
  const task = await makeTask(service);
  const senders = await makeSenders(service, task);
  expect(await sendAll(senders, service)).toEqual(all(201));
  writeFileSync(flag, "");
  expect((await closeByHand(service, task.name, WINDOW)).status).toBe(200);
  const { status, stderr } = await service.ended;
  expect({ status, stderr }).toEqual({
    status: 3,
    stderr: expect.stringContaining(
      "the disk did not take what the database wrote: the disk failed (EIO); check the disk, then start again",
    ),
  });
  expect(windowsIn(place.keyFile, task.name)).toContain(WINDOW);

  rmSync(flag);
  const again = await start(place);
  await eventually(async () => (windowsIn(place.keyFile, task.name).includes(WINDOW) ? undefined : true));
  const release = await textAt(again, `/v1/tasks/${task.name}/releases/${WINDOW}`);
  expect(JSON.parse(release.text)).toMatchObject({ received: DEVICES });
});
