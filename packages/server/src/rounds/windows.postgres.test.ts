import { type Release, type ReleaseOrWithheld, type WindowStatus, type Withheld, windowAt } from "@lethe/core/message";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  askToEnrol,
  enrol,
  enrolMany,
  fetchTask,
  type KnownTask,
  reportFor,
  reportOf,
  upload,
} from "../../test/device.ts";
import { eventually } from "../../test/eventually.ts";
import { windowsIn } from "../../test/key-file.ts";
import { expectProblem } from "../../test/problem.ts";
import {
  asAdmin,
  closeByHand,
  createTask,
  EXACT_TASK,
  startTestService,
  type TestService,
} from "../../test/service.ts";
import * as schemas from "../http/schemas.ts";

const TICKS = 4;
const GRACE = 3;
const KEYS_AHEAD = 5;

let service: TestService;

beforeAll(async () => {
  service = await startTestService({ keysAhead: KEYS_AHEAD });
});

afterAll(async () => {
  await service?.remove();
});

async function newTask(name: string): Promise<{ task: KnownTask; window: number }> {
  await createTask(service, { ...EXACT_TASK, task: name, tickSeconds: 1, ticks: TICKS, graceSeconds: GRACE });
  const task = await fetchTask(service, name);
  return { task, window: windowAt(task.manifest, service.clock() / 1000) };
}

async function statusOf({ name }: KnownTask, window: number): Promise<WindowStatus> {
  const response = await fetch(`${service.url}/v1/tasks/${name}/windows/${window}`);
  expect(response.status).toBe(200);
  return schemas.windowStatus.parse(await response.json());
}

const askForRelease = (name: string, window: number): Promise<Response> =>
  fetch(`${service.url}/v1/tasks/${name}/releases/${window}`);

/** The document as it is sent, byte by byte. */
function releaseText({ name }: KnownTask, window: number): Promise<string> {
  return eventually(async () => {
    const response = await askForRelease(name, window);
    const text = await response.text();
    return response.status === 200 ? text : undefined;
  });
}

async function releaseOf(task: KnownTask, window: number): Promise<ReleaseOrWithheld> {
  return schemas.release.parse(JSON.parse(await releaseText(task, window)));
}

it("a window runs, has its grace, closes by itself and is released; the next runs meanwhile", async () => {
  const { task, window } = await newTask("rolling");
  const devices = await enrolMany(service, task, window, 5);
  expect(await statusOf(task, window)).toMatchObject({ state: "open", enrolled: 5, received: 0 });
  const [first, second, inGrace, last, late] = devices as [
    (typeof devices)[0],
    (typeof devices)[0],
    (typeof devices)[0],
    (typeof devices)[0],
    (typeof devices)[0],
  ];
  expect((await upload(service, first, reportOf(first, "happened"))).status).toBe(201);
  expect((await upload(service, second, reportOf(second))).status).toBe(201);
  await expectProblem(await askForRelease(task.name, window), "window-not-open");

  service.clock.advance(TICKS);
  expect((await statusOf(task, window)).state).toBe("grace");
  expect((await statusOf(task, window + 1)).state).toBe("open");
  await expectProblem(await askToEnrol(service, task.name, window), "window-closed");
  expect((await upload(service, inGrace, reportOf(inGrace, "happened"))).status).toBe(201);
  await reportFor(service, task, window + 1);

  service.clock.advance(GRACE - 0.001);
  expect((await upload(service, last, reportOf(last))).status).toBe(201);
  await expectProblem(await askForRelease(task.name, window), "window-not-open");

  service.clock.advance(0.001);
  await expectProblem(await upload(service, late, reportOf(late, "happened")), "window-closed");
  const release = (await releaseOf(task, window)) as Release;
  expect(release).toMatchObject({
    status: "released",
    task: task.name,
    version: 1,
    window,
    from: window * TICKS,
    to: (window + 1) * TICKS,
    at: (window + 1) * TICKS + GRACE,
    enrolled: 5,
    received: 4,
    refused: { "window-closed": 1 },
  });
  expect(release.metrics).toHaveLength(1);
  expect(release.metrics[0]).toMatchObject({
    name: "happened",
    statistic: "occurrence",
    localEpsilon: expect.closeTo(20, 2),
  });
  expect((release.metrics[0] as { estimate: number }).estimate).toBeCloseTo(2, 3);
  expect(await statusOf(task, window)).toMatchObject({ state: "released", enrolled: 5, received: 4 });
  expect(await statusOf(task, window + 1)).toMatchObject({ state: "open", received: 1 });
});

it("a window is released once: closing again, a restart and later refusals leave the very bytes", async () => {
  const { task, window } = await newTask("once");
  for (let i = 0; i < 3; i++) await reportFor(service, task, window, "happened");
  const late = await enrol(service, task, window);
  expect((await closeByHand(service, task.name, window)).status).toBe(200);
  const text = await releaseText(task, window);
  const closed = await closeByHand(service, task.name, window);
  expect([closed.status, await closed.json()]).toMatchObject([200, { state: "released", received: 3 }]);
  await expectProblem(await upload(service, late, reportOf(late)), "window-closed");
  await service.restart();
  await expectProblem(await upload(service, late, reportOf(late)), "window-closed");
  service.clock.advance(TICKS + GRACE);
  await expectProblem(await closeByHand(service, task.name, window), "window-closed");
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(await releaseText(task, window)).toBe(text);
  expect(await (await fetch(`${service.url}/v1/tasks/${task.name}/releases`)).text()).toBe(`{"releases":[${text}]}`);
});

it("after the release nothing is left of what devices sent, nor the window's secret", async () => {
  const { task, window } = await newTask("erased");
  for (let i = 0; i < 3; i++) await reportFor(service, task, window);
  await closeByHand(service, task.name, window);
  await releaseText(task, window);
  const secretsOf = (): number[] => windowsIn(service.keyFile, task.name);
  await eventually(async () => (secretsOf().includes(window) ? undefined : true));
  expect(secretsOf()).toContain(window + 1);
  await service.stop();
  const database = await service.openDatabase();
  const [{ id } = { id: 0 }] = await database.query<{ id: number }>(
    "SELECT id FROM windows WHERE name = $1 AND number = $2 AND erased",
    [task.name, window],
  );
  expect(id).toBeGreaterThan(0);
  for (const table of ["reports", "uncounted", "devices", "tallies"]) {
    expect(await database.query(`SELECT 1 FROM ${table} WHERE window_id = $1`, [id])).toEqual([]);
  }
  await database.close();
  await service.restart();
});

it("with fewer reports than minimumDevices nothing is published but how many are missing, and all is erased", async () => {
  const { task, window } = await newTask("few");
  const devices = await enrolMany(service, task, window, 4);
  for (const device of devices.slice(0, 2)) await upload(service, device, reportOf(device, "happened"));
  service.clock.advance(TICKS + GRACE);
  const withheld = (await releaseOf(task, window)) as Withheld;
  expect(withheld).toEqual({
    status: "not-enough",
    missing: 1,
    task: task.name,
    version: 1,
    window,
    from: window * TICKS,
    to: (window + 1) * TICKS,
    at: service.clock() / 1000,
    enrolled: 4,
    received: 2,
    refused: {},
  });
  expect((await statusOf(task, window)).state).toBe("not-enough");
  await eventually(async () => {
    return windowsIn(service.keyFile, task.name).includes(window) ? undefined : true;
  });
  const [late] = devices.slice(2);
  if (late) await expectProblem(await upload(service, late, reportOf(late)), "window-closed");
});

it("a window without a single report is published as not enough", async () => {
  const { task, window } = await newTask("nobody");
  await closeByHand(service, task.name, window);
  expect(await releaseOf(task, window)).toMatchObject({ status: "not-enough", missing: 3, enrolled: 0, received: 0 });
});

it("devices enrolled for the next window upload when it has begun", async () => {
  const { task, window } = await newTask("ahead");
  const device = await enrol(service, task, window + 1);
  expect(await statusOf(task, window + 1)).toMatchObject({ state: "not-open", enrolled: 1 });
  const report = reportOf(device, "happened");
  await expectProblem(await upload(service, device, report), "window-not-open");
  await expectProblem(await upload(service, { ...device, window }, report), "unknown-device");
  service.clock.advance(TICKS);
  expect((await upload(service, device, report)).status).toBe(201);
});

it("a window that has not begun cannot be closed, and one that is over needs no closing", async () => {
  const { task, window } = await newTask("closing");
  await expectProblem(await closeByHand(service, task.name, window + 1), "window-not-open");
  await expectProblem(await closeByHand(service, task.name, window + 2), "window-not-open");
  await expectProblem(await closeByHand(service, task.name, window - 1), "window-closed");
});

it("a new version begins in a window for which nobody has enrolled, and those before keep theirs", async () => {
  const { task, window } = await newTask("versions");
  const early = await enrol(service, task, window + 1);
  const second = { ...EXACT_TASK, version: 2, task: task.name, tickSeconds: 1, ticks: TICKS, graceSeconds: GRACE };
  const metrics = [...EXACT_TASK.metrics, { name: "too", statistic: "occurrence", localEpsilon: 20 }] as const;
  await createTask(service, { ...second, metrics });
  expect((await fetchTask(service, task.name)).manifest.version).toBe(1);
  expect((await fetchTask(service, task.name, window + 1)).manifest.version).toBe(1);
  const next = await fetchTask(service, task.name, window + 2);
  expect(next.manifest).toMatchObject({ version: 2, fromWindow: window + 2 });
  await expectProblem(await askToEnrol(service, task.name, window + 2), "window-not-open");

  service.clock.advance(TICKS);
  // A device of the first version is still one in its window.
  expect((await upload(service, early, reportOf(early))).status).toBe(201);
  const device = await enrol(service, next, window + 2);
  await expectProblem(await upload(service, device, reportOf(device)), "window-not-open");

  service.clock.advance(TICKS);
  expect((await fetchTask(service, task.name)).manifest.version).toBe(2);
  expect((await upload(service, device, reportOf(device, "too"))).status).toBe(201);
  for (let i = 0; i < 2; i++) await reportFor(service, next, window + 2, "happened", "too");
  await expectProblem(
    await upload(service, { ...device, id: early.id, token: early.token }, reportOf(early)),
    "wrong-size",
  );
  expect((await closeByHand(service, task.name, window + 2)).status).toBe(200);
  const release = (await releaseOf(next, window + 2)) as Release;
  expect(release.version).toBe(2);
  expect(release.metrics.map(({ name }) => name)).toEqual(["happened", "too"]);
  const estimates = release.metrics.map((metric) => (metric as { estimate: number }).estimate);
  expect(estimates[0]).toBeCloseTo(2, 3);
  expect(estimates[1]).toBeCloseTo(3, 3);

  const listed = (await (await asAdmin(service, "/v1/tasks")).json()) as {
    tasks: { task: string; versions: unknown }[];
  };
  expect(listed.tasks.find((known) => known.task === task.name)).toMatchObject({
    window: window + 2,
    versions: [
      { version: 1, fromWindow: window, metrics: 1 },
      { version: 2, fromWindow: window + 2, metrics: 2 },
    ],
  });
});

it("a pool of keys lies ready for the running window and the next, and no further", async () => {
  const { task, window } = await newTask("pool");
  await eventually(async () => ((await askToEnrol(service, task.name, window + 1)).status === 201 ? true : undefined));
  // Enrolling wakes the tally, which fills up what was taken; on a busy machine that takes a while.
  const pools = await eventually(async () => {
    await new Promise((resolve) => setTimeout(resolve, 500));
    await service.stop();
    const found = await poolsOf(task.name);
    await service.restart();
    return found.every(({ spare }) => spare >= KEYS_AHEAD) ? found : undefined;
  });
  expect(pools).toEqual([
    { number: window, spare: KEYS_AHEAD },
    { number: window + 1, spare: KEYS_AHEAD },
  ]);
});

async function poolsOf(task: string): Promise<{ number: number; spare: number }[]> {
  const database = await service.openDatabase();
  const pools = await database.query<{ number: number; spare: number }>(
    `SELECT number, sum(entries)::int AS spare FROM windows LEFT JOIN spare_keys ON window_id = windows.id
     WHERE name = $1 GROUP BY number ORDER BY number`,
    [task],
  );
  await database.close();
  return pools;
}

it("the service may be down for windows on end: what was open closes when it is back, and none is made up for those between", async () => {
  const { task, window } = await newTask("asleep");
  for (let i = 0; i < 3; i++) await reportFor(service, task, window, "happened");
  await service.stop();
  service.clock.advance(10 * TICKS);
  await service.restart();
  const release = (await releaseOf(task, window)) as Release;
  expect([release.status, release.received]).toEqual(["released", 3]);
  expect(await releaseOf(task, window + 1)).toMatchObject({ status: "not-enough", received: 0 });
  await expectProblem(await askForRelease(task.name, window + 5), "window-closed");
  await reportFor(service, task, window + 10);
});

it("a clock that goes back opens nothing that is closed", async () => {
  const { task, window } = await newTask("back");
  const device = await enrol(service, task, window);
  for (let i = 0; i < 3; i++) await reportFor(service, task, window);
  service.clock.advance(TICKS + GRACE);
  const text = await releaseText(task, window);
  service.clock.advance(-(TICKS + GRACE));
  await expectProblem(await upload(service, device, reportOf(device)), "window-closed");
  await expectProblem(await askToEnrol(service, task.name, window), "window-closed");
  expect(await releaseText(task, window)).toBe(text);
  service.clock.advance(TICKS + GRACE);
});

it("releases are listed newest first, a page at a time", async () => {
  const { task, window } = await newTask("pages");
  for (let i = 0; i < 4; i++) {
    await eventually(async () =>
      (await closeByHand(service, task.name, window + i)).status === 200 ? true : undefined,
    );
    await releaseText(task, window + i);
    service.clock.advance(TICKS);
  }
  const list = async (query: string): Promise<number[]> => {
    const body = await (await fetch(`${service.url}/v1/tasks/${task.name}/releases${query}`)).json();
    schemas.releases.parse(body);
    return (body as { releases: { window: number }[] }).releases.map((release) => release.window - window);
  };
  expect(await list("")).toEqual([3, 2, 1, 0]);
  expect(await list("?limit=2")).toEqual([3, 2]);
  expect(await list(`?limit=2&before=${window + 2}`)).toEqual([1, 0]);
  expect(await list(`?before=${window}`)).toEqual([]);
});
