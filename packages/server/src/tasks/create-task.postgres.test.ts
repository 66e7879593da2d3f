import { sign } from "node:crypto";
import { parseManifest, parseSignedManifest, type Task, windowAt } from "@lethe/core/message";
import { afterAll, beforeAll, expect, it } from "vitest";
import { fetchTask } from "../../test/device.ts";
import { expectProblem } from "../../test/problem.ts";
import { asAdmin, EXACT_TASK, startTestService, type TestService } from "../../test/service.ts";
import * as schemas from "../http/schemas.ts";
import { openKeyFile } from "../tally/key-file.ts";

let service: TestService;

beforeAll(async () => {
  service = await startTestService({ keysAhead: 1, url: "https://telemetry.example" });
});

afterAll(async () => {
  await service?.remove();
});

const create = (task: Task): Promise<Response> => asAdmin(service, "/v1/tasks", task);

async function listed(): Promise<{ task: string; versions: { version: number }[] }[]> {
  const body = await (await asAdmin(service, "/v1/tasks")).json();
  return (schemas.tasks.parse(body) as { tasks: { task: string; versions: { version: number }[] }[] }).tasks;
}

it("a task is signed, says where devices reach the service, and begins in the running window", async () => {
  const response = await create({ ...EXACT_TASK, task: "first" });
  expect(response.status).toBe(201);
  const { manifest } = await fetchTask(service, "first");
  expect(parseManifest(parseSignedManifest(await response.text()).manifest)).toEqual(manifest);
  expect(manifest).toEqual({
    ...EXACT_TASK,
    task: "first",
    hides: 1000,
    missing: 0,
    fromWindow: windowAt(EXACT_TASK, service.clock() / 1000),
    servers: [{ role: "tally", url: "https://telemetry.example", key: service.operatorKey }],
  });
});

it("the same task again is there already, with the same manifest, however its fields are ordered", async () => {
  const task = { ...EXACT_TASK, task: "again" };
  const text = await (await create(task)).text();
  const reversed = Object.fromEntries(Object.entries(task).reverse()) as unknown as Task;
  const again = await create(reversed);
  expect([again.status, await again.text()]).toEqual([200, text]);
});

it("the share of devices that may be dishonest is signed with the manifest: 0, unless the task says otherwise", async () => {
  const manifestOf = async (task: string): Promise<unknown> =>
    JSON.parse(parseSignedManifest(await (await fetch(`${service.url}/v1/tasks/${task}`)).text()).manifest);
  await create({ ...EXACT_TASK, task: "all-honest" });
  await create({ ...EXACT_TASK, task: "some-missing", missing: 0.25 });
  expect(await manifestOf("all-honest")).toMatchObject({ missing: 0 });
  expect(await manifestOf("some-missing")).toMatchObject({ missing: 0.25 });
  // `fetchTask` checks the signature over these bytes.
  expect((await fetchTask(service, "some-missing")).manifest.missing).toBe(0.25);
  // Left out is 0, and nothing else.
  expect((await create({ ...EXACT_TASK, task: "all-honest", missing: 0 })).status).toBe(200);
  await expectProblem(await create({ ...EXACT_TASK, task: "all-honest", missing: 0.25 }), "bad-task");
  await expectProblem(await create({ ...EXACT_TASK, task: "some-missing" }), "bad-task");
});

it.each([1, -0.1, 2, "0.1", null])("a share of %s is refused, naming the field", async (missing) => {
  const response = await asAdmin(service, "/v1/tasks", { ...EXACT_TASK, task: "nonsense", missing });
  expect((await expectProblem(response, "bad-task")).detail).toMatch(/^missing /);
});

it("the same version with other content is refused, and so are a lower version and windows of another length", async () => {
  const task = { ...EXACT_TASK, task: "conflict", version: 3 };
  expect((await create(task)).status).toBe(201);
  const conflicts: [Partial<Task>, RegExp][] = [
    [{ minimumDevices: 4 }, /^version 3 /],
    [{ missing: 0.1 }, /^version 3 /],
    [{ metrics: [{ name: "other", statistic: "occurrence", localEpsilon: 20 }] }, /^version 3 /],
    [{ version: 2 }, /^version /],
    [{ version: 4, ticks: 3 }, /^ticks and tickSeconds /],
    [{ version: 4, tickSeconds: 61 }, /^ticks and tickSeconds /],
  ];
  for (const [changed, detail] of conflicts) {
    expect((await expectProblem(await create({ ...task, ...changed }), "bad-task")).detail).toMatch(detail);
  }
  // As long as windows are: more and shorter ticks, a higher version and anything else may change.
  const next = {
    ...task,
    version: 7,
    ticks: 4,
    tickSeconds: 30,
    graceSeconds: 0,
    minimumDevices: 1,
    scheme: "lattice",
  };
  const metrics = [{ name: "other", statistic: "occurrence", localEpsilon: 1 }];
  expect((await create({ ...next, metrics } as Task)).status).toBe(201);
  expect((await create(task)).status).toBe(200);
});

it("two new versions in one window follow each other", async () => {
  const task = { ...EXACT_TASK, task: "hasty" };
  for (const version of [1, 2, 3]) expect((await create({ ...task, version })).status).toBe(201);
  const window = windowAt(EXACT_TASK, service.clock() / 1000);
  const versions = await Promise.all(
    [0, 1, 2, 3, 4].map(async (later) => (await fetchTask(service, task.task, window + later)).manifest.version),
  );
  expect(versions).toEqual([1, 1, 2, 3, 3]);
});

it("a manifest is not told for windows before the task", async () => {
  await create({ ...EXACT_TASK, task: "begins" });
  const window = windowAt(EXACT_TASK, service.clock() / 1000);
  await expectProblem(await fetch(`${service.url}/v1/tasks/begins?window=${window - 1}`), "window-closed");
});

it("one task sent many times at once is made once", async () => {
  const statuses = await Promise.all(
    Array.from({ length: 20 }, async () => (await create({ ...EXACT_TASK, task: "at-once" })).status),
  );
  expect(statuses.toSorted()).toEqual([...new Array<number>(19).fill(200), 201]);
});

it("of different tasks under one name and version, sent at once, one is made and the others refused", async () => {
  const responses = await Promise.all(
    Array.from({ length: 10 }, (_, i) => create({ ...EXACT_TASK, task: "rivals", minimumDevices: 3 + i })),
  );
  expect(responses.filter(({ status }) => status === 201)).toHaveLength(1);
  for (const response of responses) if (response.status !== 201) await expectProblem(response, "bad-task");
});

it("many tasks made at once are each listed once, with each version once", async () => {
  const names = Array.from({ length: 12 }, (_, i) => `crowd-${i}`);
  const statuses = await Promise.all(names.map(async (task) => (await create({ ...EXACT_TASK, task })).status));
  expect(statuses).toEqual(names.map(() => 201));
  const crowd = (await listed()).filter(({ task }) => task.startsWith("crowd-"));
  expect(crowd.map(({ task }) => task).toSorted()).toEqual(names.toSorted());
  for (const { versions } of crowd) expect(versions).toHaveLength(1);
});

it("page hides and each metric's scheme are written out when a task is created", async () => {
  const { scheme: _, ...task } = { ...EXACT_TASK, task: "by-default" };
  const metrics: Task["metrics"] = [
    { name: "happened", statistic: "occurrence", localEpsilon: 1 },
    { name: "times", statistic: "histogram", edges: [0, 1], localEpsilon: 1, eventsPerTick: 3 },
    { name: "average", statistic: "mean", limit: 3, sigma: 2 },
    { name: "rarely", statistic: "occurrence", localEpsilon: 1, scheme: "elgamal" },
  ];
  expect((await create({ ...task, metrics })).status).toBe(201);
  const { manifest } = await fetchTask(service, "by-default");
  expect(manifest).toMatchObject({ hides: 1000, missing: 0 });
  expect(manifest).not.toHaveProperty("scheme");
  expect(manifest.metrics.map(({ name, scheme }) => [name, scheme])).toEqual([
    ["happened", "lattice"],
    ["times", "elgamal"],
    ["average", "elgamal"],
    ["rarely", "elgamal"],
  ]);
  // What counts every event has no limit to state.
  expect(manifest.metrics[1]).not.toHaveProperty("eventsPerTick");
  expect((await create({ ...task, metrics, hides: 1000 })).status).toBe(200);
  expect((await expectProblem(await create({ ...task, metrics, hides: 5 }), "bad-task")).detail).toMatch("raise it");
});

it("a lattice histogram that has no room is refused, with the page hides that it has room for", async () => {
  const histogram = { name: "times", statistic: "histogram", edges: [0, 1, 2, 5], localEpsilon: 1 } as const;
  const task: Task = { ...EXACT_TASK, task: "full", scheme: "lattice", metrics: [{ ...histogram, eventsPerTick: 1 }] };
  expect((await expectProblem(await create(task), "bad-task")).detail).toMatch(/hides 803 is the most that fits$/);
  expect((await create({ ...task, hides: 803 })).status).toBe(201);
  const without = { ...task, task: "unsaid", hides: 2, metrics: [histogram] };
  expect((await expectProblem(await create(without), "bad-task")).detail).toMatch(
    "metrics[0].eventsPerTick is required",
  );
});

it("a task whose manifest is from before `missing` and `hides` is the same task still", async () => {
  const task = { ...EXACT_TASK, task: "of-old" };
  const made = parseSignedManifest(await (await create(task)).text());
  const old = made.manifest.replace('"missing":0,', "").replace('"hides":1000,', "");
  expect(old.length).toBe(made.manifest.length - '"missing":0,"hides":1000,'.length);
  await service.stop();
  const keyFile = openKeyFile(service.keyFile);
  const signature = sign(null, Buffer.from(old), keyFile.signingKey);
  keyFile.close();
  const database = await service.openDatabase();
  await database.query("UPDATE tasks SET manifest = $1, signature = $2 WHERE name = $3", [old, signature, task.task]);
  await database.close();
  await service.restart();
  expect((await fetchTask(service, task.task)).manifest).not.toHaveProperty("missing");
  expect((await fetchTask(service, task.task)).manifest).not.toHaveProperty("hides");
  const again = await create(task);
  expect([again.status, parseSignedManifest(await again.text()).manifest]).toEqual([200, old]);
});

it("tasks are there after a restart, with the same bytes", async () => {
  const before = await (await fetch(`${service.url}/v1/tasks/first`)).text();
  const tasks = await listed();
  await service.restart();
  expect(await (await fetch(`${service.url}/v1/tasks/first`)).text()).toBe(before);
  expect(await listed()).toEqual(tasks);
});
