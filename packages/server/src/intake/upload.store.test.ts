import { randomBytes } from "node:crypto";
import { DEVICE_BYTES, encodeBase64url, encodeReport, type Release, type Task, windowAt } from "@lethe/core/message";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type Device,
  enrol,
  enrolMany,
  fetchTask,
  type KnownTask,
  reportFor,
  reportOf,
  reportPath,
  upload,
  uploadHeaders,
} from "../../test/device.ts";
import { eventually } from "../../test/eventually.ts";
import { countedReports } from "../../test/metrics.ts";
import { expectProblem } from "../../test/problem.ts";
import { closeByHand, createTask, EXACT_TASK, startTestService, type TestService } from "../../test/service.ts";
import { unpack } from "../storage/database.ts";

let service: TestService;
let window: number;

beforeAll(async () => {
  service = await startTestService({ keysAhead: 30 });
  window = windowAt(EXACT_TASK, service.clock() / 1000);
});

afterAll(async () => {
  await service?.remove();
});

/** Each test has its own task, so that each can close its window. */
async function ownTask(name: string, changed: Partial<Task> = {}): Promise<KnownTask> {
  await createTask(service, { ...EXACT_TASK, ...changed, task: name });
  return fetchTask(service, name);
}

/** Closes the window and waits for its release. */
async function release(task: KnownTask): Promise<Release> {
  expect((await closeByHand(service, task.name, window)).status).toBe(200);
  return eventually(async () => {
    const response = await fetch(`${service.url}/v1/tasks/${task.name}/releases/${window}`);
    const body = (await response.json()) as Release;
    return response.status === 200 ? body : undefined;
  });
}

/** How many devices say that it happened; as good as exact for the task that these tests use. */
function happenedIn({ metrics }: Release): number {
  const [metric] = metrics;
  if (metric?.statistic !== "occurrence") throw new TypeError("no occurrence");
  expect(Math.abs(metric.estimate - Math.round(metric.estimate))).toBeLessThan(1e-3);
  return Math.round(metric.estimate) + 0;
}

async function statusOf(
  task: KnownTask,
): Promise<{ received: number; enrolled: number; refused: Record<string, number> }> {
  return (await (await fetch(`${service.url}/v1/tasks/${task.name}/windows/${window}`)).json()) as Awaited<
    ReturnType<typeof statusOf>
  >;
}

describe("an upload token", () => {
  let task: KnownTask;
  let device: Device;
  beforeAll(async () => {
    task = await ownTask("tokens");
    device = await enrol(service, task, window);
  });

  it("is needed", async () => {
    const headers = { "content-type": "application/octet-stream" };
    const body = reportOf(device) as Uint8Array<ArrayBuffer>;
    const response = await fetch(service.url + reportPath(device), { method: "PUT", headers, body });
    expect(response.headers.get("www-authenticate")).toBe("Bearer");
    await expectProblem(response, "unauthorized");
  });

  it("is refused if it is any other", async () => {
    const other = await enrol(service, task, window);
    const wrong = [other.token, `${device.token}A`, device.token.slice(1), device.token.toLowerCase(), "x"];
    for (const token of wrong) {
      await expectProblem(await upload(service, { ...device, token }, reportOf(device)), "unauthorized");
    }
  });

  it("does not reveal whether a report is there already", async () => {
    const sent = await reportFor(service, task, window);
    const token = encodeBase64url(randomBytes(32));
    const texts = await Promise.all(
      [sent, device].map(async (each) => (await upload(service, { ...each, token }, reportOf(each))).text()),
    );
    expect(texts[0]).toBe(texts[1]);
  });

  it("after all that, is taken if it is the right one", async () => {
    expect((await upload(service, device, reportOf(device))).status).toBe(201);
  });

  it("of one task is worth nothing in another", async () => {
    const other = await ownTask("tokens-too");
    const report = encodeReport(other.hash, [new Uint8Array(64)]);
    await expectProblem(await upload(service, { ...device, task: other }, report), "unknown-device");
  });
});

describe("a device that nobody enrolled", () => {
  it("is unknown, and so is one whose keys are still in the pool", async () => {
    const task = await ownTask("unknown");
    const device = { ...(await enrol(service, task, window)), id: randomBytes(16) };
    await expectProblem(await upload(service, device, reportOf(device)), "unknown-device");
    await service.stop();
    const database = await service.openDatabase();
    const [bundle] = await database.query<{ devices: Uint8Array }>(
      "SELECT devices FROM spare_keys JOIN windows ON windows.id = window_id WHERE name = $1 LIMIT 1",
      [task.name],
    );
    await database.close();
    await service.restart();
    const spares = unpack(bundle?.devices ?? new Uint8Array(), DEVICE_BYTES).slice(0, 3);
    expect(spares).toHaveLength(3);
    for (const id of spares) {
      await expectProblem(await upload(service, { ...device, id }, reportOf(device)), "unknown-device");
    }
  });
});

describe.each([
  ["elgamal", EXACT_TASK.metrics],
  ["lattice", [{ name: "happened", statistic: "occurrence", localEpsilon: 16 }]],
] as const)("a copy of another device's report (%s)", (scheme, metrics) => {
  it("is refused with the first one's token; under its own it is taken and counts as no event", async () => {
    const task = await ownTask(`copies-${scheme}`, { scheme, metrics });
    const victim = await enrol(service, task, window);
    const report = reportOf(victim, "happened");
    expect((await upload(service, victim, report)).status).toBe(201);
    const copiers = await enrolMany(service, task, window, 4);
    for (const copier of copiers) {
      await expectProblem(await upload(service, { ...copier, token: victim.token }, report), "unauthorized");
    }
    for (const copier of copiers) {
      const taken = await upload(service, copier, report);
      // Exactly as an honest one: nothing shows that it will not open.
      expect([taken.status, await taken.text()]).toEqual([201, ""]);
    }
    const released = await release(task);
    expect(released.received).toBe(5);
    expect(happenedIn(released)).toBe(1);
    expect(released.invalid.estimate).toBe(4);
    expect(released.refused).toEqual({ unauthorized: 4 });
  });
});

describe("a report counts once", () => {
  it.each([1, 2, 100])("when the same upload comes %i times at once: one 201, else 200", async (times) => {
    const task = await ownTask(`times-${times}`);
    for (let i = 0; i < 3; i++) await reportFor(service, task, window);
    const device = await enrol(service, task, window);
    const report = reportOf(device, "happened");
    const statuses = await Promise.all(
      Array.from({ length: times }, async () => (await upload(service, device, report)).status),
    );
    expect(statuses.filter((status) => status === 201)).toHaveLength(1);
    expect(statuses.filter((status) => status === 200)).toHaveLength(times - 1);
    expect((await upload(service, device, report)).status).toBe(200);
    const { received, enrolled, refused } = await release(task);
    expect({ received, enrolled, refused }).toEqual({ received: 4, enrolled: 4, refused: {} });
  });

  it("when different bytes come under the same id at once: exactly one of them is taken, all others refused", async () => {
    const task = await ownTask("differs");
    for (let i = 0; i < 3; i++) await reportFor(service, task, window);
    const device = await enrol(service, task, window);
    const reports = Array.from({ length: 40 }, (_, i) =>
      i % 4 === 0 ? reportOf(device) : reportOf(device, "happened"),
    );
    const responses = await Promise.all(reports.map((report) => upload(service, device, report)));
    const stored = responses.findIndex(({ status }) => status === 201);
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(1);
    for (const [i, response] of responses.entries()) if (i !== stored) await expectProblem(response, "report-differs");
    // The first one counts, however often others come.
    expect((await upload(service, device, reports[stored] as Uint8Array)).status).toBe(200);
    const released = await release(task);
    expect(released.received).toBe(4);
    expect(happenedIn(released)).toBe(stored % 4 === 0 ? 0 : 1);
    expect(released.refused).toEqual({ "report-differs": 39 });
  });

  it("among many others at once, each sent three times, and the tally is what the devices know", async () => {
    const task = await ownTask("many");
    const devices = await enrolMany(service, task, window, 100);
    const reports = devices.map((device, i) => (i < 37 ? reportOf(device, "happened") : reportOf(device)));
    const statuses = await Promise.all(
      [0, 1, 2].flatMap(() =>
        devices.map(async (device, i) => (await upload(service, device, reports[i] as Uint8Array)).status),
      ),
    );
    expect(statuses.filter((status) => status === 201)).toHaveLength(100);
    expect(statuses.filter((status) => status === 200)).toHaveLength(200);
    const released = await release(task);
    expect({ received: released.received, enrolled: released.enrolled }).toEqual({ received: 100, enrolled: 100 });
    expect(happenedIn(released)).toBe(37);
    expect(released.invalid.estimate).toBe(0);
  });

  it("when it had been counted before the retry came", async () => {
    const before = await countedReports(service);
    const task = await ownTask("late-retry");
    const device = await enrol(service, task, window);
    const report = reportOf(device, "happened");
    expect((await upload(service, device, report)).status).toBe(201);
    for (let i = 0; i < 2; i++) await reportFor(service, task, window);
    await eventually(async () => ((await countedReports(service)) >= before + 3 ? true : undefined));
    expect((await upload(service, device, report)).status).toBe(200);
    await expectProblem(await upload(service, device, reportOf(device)), "report-differs");
    const released = await release(task);
    expect([released.received, happenedIn(released)]).toEqual([3, 1]);
  });
});

describe("a body that no honest device sends", () => {
  it("behind a right header is taken, counts as no event and holds nobody up", async () => {
    const task = await ownTask("garbage");
    const bodies = [new Uint8Array(64).fill(0xff), ...Array.from({ length: 6 }, () => new Uint8Array(randomBytes(64)))];
    for (const body of bodies) {
      const device = await enrol(service, task, window);
      expect((await upload(service, device, encodeReport(task.hash, [body]))).status).toBe(201);
    }
    await reportFor(service, task, window, "happened");
    const released = await release(task);
    expect([released.received, happenedIn(released), released.invalid.estimate]).toEqual([8, 1, 7]);
  });
});

describe("a window", () => {
  it("that is closed manually takes no more, not even what it has already", async () => {
    const task = await ownTask("by-hand");
    const sent = await enrol(service, task, window);
    const [report, late] = [reportOf(sent), await enrol(service, task, window)];
    expect((await upload(service, sent, report)).status).toBe(201);
    expect((await closeByHand(service, task.name, window)).status).toBe(200);
    await expectProblem(await upload(service, late, reportOf(late)), "window-closed");
    await expectProblem(await upload(service, sent, report), "window-closed");
    expect((await statusOf(task)).received).toBe(1);
  });

  it("that has not begun, or never was, takes nothing", async () => {
    const task = await ownTask("other-windows");
    const device = await enrol(service, task, window);
    const at = (number: number) => upload(service, { ...device, window: number }, reportOf(device));
    await expectProblem(await at(window + 1), "window-not-open");
    await expectProblem(await at(window + 2), "window-not-open");
    await expectProblem(await at(999_999_999), "window-not-open");
    await expectProblem(await at(window - 1), "window-closed");
    await expectProblem(await at(0), "window-closed");
  });

  it("reports what it refused, by reason and exactly", async () => {
    const task = await ownTask("counted");
    const device = await enrol(service, task, window);
    const put = (headers: Record<string, string>, body: Uint8Array): Promise<Response> =>
      fetch(service.url + reportPath(device), { method: "PUT", headers, body: body as Uint8Array<ArrayBuffer> });
    const report = reportOf(device);
    for (let i = 0; i < 3; i++) await put(uploadHeaders(device), report.slice(1));
    for (let i = 0; i < 2; i++) await put({ ...uploadHeaders(device), "content-type": "text/plain" }, report);
    for (let i = 0; i < 4; i++) await put(uploadHeaders({ token: "x" }), report);
    await put(uploadHeaders(device), randomBytes(report.length));
    for (let i = 0; i < 3; i++) expect((await put(uploadHeaders(device), report)).ok).toBe(true);
    await put(uploadHeaders(device), reportOf(device));
    for (let i = 0; i < 2; i++) await reportFor(service, task, window);
    const exact = { "wrong-size": 3, "wrong-type": 2, unauthorized: 4, "bad-encoding": 1, "report-differs": 1 };
    const status = await eventually(async () => {
      const found = await statusOf(task);
      return Object.keys(found.refused).length === 5 ? found : undefined;
    });
    expect(status.refused).toEqual(exact);
    const released = await release(task);
    expect([released.received, released.refused]).toEqual([3, exact]);
    // What comes afterwards changes nothing: a release is made once.
    await put(uploadHeaders({ token: "x" }), report);
    await new Promise((resolve) => setTimeout(resolve, 1200));
    expect(await release(task)).toEqual(released);
  });
});
