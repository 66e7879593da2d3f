import { type Operations, parseOperations, windowAt } from "@lethe/core/message";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { enrolMany, fetchTask, type KnownTask, reportOf, upload } from "../../test/device.ts";
import { eventually } from "../../test/eventually.ts";
import {
  ADMIN_TOKEN,
  asAdmin,
  closeByHand,
  createTask,
  EXACT_TASK,
  startTestService,
  type TestService,
} from "../../test/service.ts";
import { enrolShared, makeTask, SHARED_TASK, startPair } from "../../test/two-servers.ts";
import * as schemas from "./schemas.ts";

let service: TestService;
let task: KnownTask;
let window: number;

beforeAll(async () => {
  service = await startTestService();
  await createTask(service, EXACT_TASK);
  task = await fetchTask(service, EXACT_TASK.task);
  window = windowAt(EXACT_TASK, service.clock() / 1000);
});

afterAll(async () => {
  await service?.remove();
});

async function operations(of: Pick<TestService, "url"> = service): Promise<Operations> {
  const response = await asAdmin(of, "/v1/operations");
  const text = await response.text();
  expect(text).not.toContain(ADMIN_TOKEN);
  expect([response.status, response.headers.get("cache-control")]).toEqual([200, "no-store"]);
  schemas.operations.parse(JSON.parse(text));
  // What clients read is the whole document.
  expect(parseOperations(text)).toEqual(JSON.parse(text));
  return parseOperations(text);
}

/** The figures are at most a second old. */
const operationsWith = (isThere: (found: Operations) => boolean): Promise<Operations> =>
  eventually(async () => {
    const found = await operations();
    return isThere(found) ? found : undefined;
  });

it("needs the admin token", async () => {
  const response = await fetch(`${service.url}/v1/operations`);
  expect(response.status).toBe(401);
});

it("lists the next window and the running one, with the times of the task", async () => {
  const { tasks, ...about } = await operationsWith(({ backlog }) => backlog?.keys === 20);
  expect(about).toMatchObject({
    role: "all",
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    now: service.clock() / 1000,
    ready: true,
    clockInDoubt: false,
    backlog: { reports: 0, windows: 0 },
  });
  expect(about).not.toHaveProperty("helper");
  const [first] = tasks;
  expect(first).toMatchObject({ task: "exact", version: 1, windowSeconds: 120 });
  expect(first?.nextRelease).toEqual({ window, at: (window + 1) * 120 + 60 });
  expect(first?.windows.map(({ window: number, state }) => [number - window, state])).toEqual([
    [1, "not-open"],
    [0, "open"],
  ]);
});

it("has the same figures as the endpoint of each window, and as the database", async () => {
  const devices = await enrolMany(service, task, window, 4);
  for (const device of devices.slice(0, 3)) {
    expect((await upload(service, device, reportOf(device))).status).toBe(201);
  }
  // A refusal: other bytes than before.
  const [first] = devices;
  if (!first) throw new TypeError("nobody enrolled");
  expect((await upload(service, first, reportOf(first))).status).toBe(409);
  const { tasks } = await operationsWith(({ tasks: [found] }) =>
    JSON.stringify(found?.windows).includes('"report-differs":1'),
  );
  for (const status of tasks[0]?.windows ?? []) {
    const alone = await fetch(`${service.url}/v1/tasks/exact/windows/${status.window}`);
    expect(status).toEqual(await alone.json());
  }
  expect(tasks[0]?.windows[1]).toMatchObject({ window, enrolled: 4, received: 3, refused: { "report-differs": 1 } });
});

it("keeps the last finished windows, and names the next release", async () => {
  expect((await closeByHand(service, "exact", window)).status).toBe(200);
  const closed = await operationsWith(({ tasks: [found] }) => found?.windows.at(-1)?.state === "released");
  expect(closed.tasks[0]?.windows.at(-1)).toMatchObject({ window, received: 3 });
  expect(closed.tasks[0]?.nextRelease?.window).toBe(window + 1);
});

it("of a leader: whether its helper answers, and the windows that wait for it", async () => {
  const pair = await startPair();
  onTestFinished(pair.remove);
  const known = await makeTask(pair);
  const first = windowAt(SHARED_TASK, pair.helper.clock() / 1000);
  const at = (): Promise<Operations> => operations(pair.leader);
  expect((await at()).helper).toEqual({ url: pair.helper.url, answers: true, detail: "ready" });
  expect(await operations(pair.helper)).not.toHaveProperty("helper");
  await enrolShared(pair, known, first);
  const { url } = pair.helper;
  await pair.helper.stop();
  // Both go by the clock of the helper.
  pair.helper.clock.advance(120 + 60);
  const waiting = await eventually(async () => {
    const found = await at();
    return found.backlog?.windows === 1 && found.helper?.answers === false ? found : undefined;
  });
  expect(waiting.helper).toEqual({ url, answers: false, detail: "no answer within 2 s" });
  expect(waiting.ready).toMatch(/unreachable/);
  const [{ windows, nextRelease } = { windows: [], nextRelease: null }] = waiting.tasks;
  expect(windows.at(-1)).toMatchObject({ window: first, state: "closed" });
  expect(nextRelease).toMatchObject({ window: first, at: (first + 1) * 120 + 60 });
});
