import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import {
  type Device,
  enrol,
  enrolMany,
  fetchTask,
  type KnownTask,
  reportOf,
  reportPath,
  upload,
  uploadHeaders,
} from "../../test/device.ts";
import { eventually } from "../../test/eventually.ts";
import { copyEmptyDatabase, unownedFolder } from "../../test/folder.ts";
import { memoryOf, openMany } from "../../test/many-connections.ts";
import { expectProblem } from "../../test/problem.ts";
import { MONTHS_TASK, WINDOW } from "../../test/processes.ts";
import { openConnection, parseResponse, requestRaw } from "../../test/raw-http.ts";
import { ADMIN_TOKEN, createTask } from "../../test/service.ts";
import { type ServiceProcess, startServiceProcess } from "../../test/service-process.ts";

const SILENCE_MS = 6000;
const IDLE = 10_000;
const HALF_SENT = 1000;
/** What a connection takes at most, with what the engine has not collected yet. */
const MOST_KB_PER_CONNECTION = 40;

let service: ServiceProcess;
let task: KnownTask;
beforeAll(async () => {
  const folder = unownedFolder();
  await copyEmptyDatabase(join(folder, "data"));
  service = await startServiceProcess({
    ...{ data: join(folder, "data"), keyFile: join(folder, "keys"), adminToken: ADMIN_TOKEN },
    ...{ host: "127.0.0.1", port: 0, threads: 1, keysAhead: 60, silenceMilliseconds: SILENCE_MS },
  });
  await createTask(service, MONTHS_TASK);
  task = await fetchTask(service, MONTHS_TASK.task);
  return () => service.kill();
});

/** A device enrols and reports, and how long that takes. */
async function serveOne(): Promise<number> {
  const start = performance.now();
  const device = await enrol(service, task, WINDOW);
  expect((await upload(service, device, reportOf(device))).status).toBe(201);
  return Math.round(performance.now() - start);
}

const received = async (): Promise<number> => {
  const response = await fetch(`${service.url}/v1/tasks/${task.name}/windows/${WINDOW}`);
  return ((await response.json()) as { received: number }).received;
};

it("10,000 idle connections keep nobody waiting, and are closed after the silence that is allowed", async () => {
  await serveOne();
  const before = memoryOf(service.pid);
  const idle = await openMany(service, IDLE);
  const took = await serveOne();
  const most = memoryOf(service.pid);
  console.log(JSON.stringify({ idle: idle.opened, served: took, megabytes: [before, most] }));
  expect(most - before).toBeLessThan((MOST_KB_PER_CONNECTION * IDLE) / 1000);
  await eventually(async () => (idle.closed() === IDLE ? true : undefined));
  await serveOne();
});

it("1,000 uploads that stop half-way are cut, store nothing, and their devices can still send", async () => {
  const devices = await enrolMany(service, task, WINDOW, 10);
  const reports = devices.map((device) => reportOf(device));
  const before = await received();
  const half = (i: number): Uint8Array => {
    const device = devices[i % devices.length] as Device;
    const report = reports[i % devices.length] as Uint8Array;
    const headers = { ...uploadHeaders(device), "content-length": report.length };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    const head = [`PUT ${reportPath(device)} HTTP/1.1`, "Host: test", ...lines, "", ""].join("\r\n");
    return Buffer.concat([Buffer.from(head), report.subarray(0, report.length / 2)]);
  };
  const uploads = await openMany(service, HALF_SENT, half);
  const took = await serveOne();
  console.log(JSON.stringify({ halfSent: uploads.opened, served: took, megabytes: memoryOf(service.pid) }));
  await eventually(async () => (uploads.closed() === HALF_SENT ? true : undefined));
  expect(uploads.answered()).toBe("");
  expect(await received()).toBe(before + 1);
  for (const [i, device] of devices.entries()) {
    expect((await upload(service, device, reports[i] as Uint8Array)).status).toBe(201);
  }
});

describe("endless headers", () => {
  it.each([
    ["many lines", () => "X-More: x\r\n".repeat(1000)],
    ["one line", () => "x".repeat(10_000)],
    ["a path", () => "/".repeat(10_000)],
  ])("in %s are refused, and the connection is closed", async (what, more) => {
    const { socket, answered } = await openConnection(service.url);
    const start = what === "a path" ? "GET /" : "GET /healthz HTTP/1.1\r\nHost: test\r\nX-Long: ";
    socket.write(start);
    const sending = setInterval(() => socket.write(more()), 1);
    const answer = await answered;
    clearInterval(sending);
    await expectProblem(parseResponse(answer), "bad-encoding");
    await serveOne();
  });
});

describe("a compressed body", () => {
  const bomb = gzipSync(Buffer.alloc(50_000_000));

  it("is refused as such: nothing is decompressed", async () => {
    const device = await enrol(service, task, WINDOW);
    const before = memoryOf(service.pid);
    const asked: [string, string, Record<string, string>][] = [
      ["PUT", reportPath(device), uploadHeaders(device)],
      ["POST", `/v1/tasks/${task.name}/windows/${WINDOW}/devices`, { "content-type": "application/json" }],
      ["POST", "/v1/tasks", { "content-type": "application/json", authorization: `Bearer ${ADMIN_TOKEN}` }],
    ];
    for (const [method, path, headers] of asked) {
      const coded = { ...headers, "content-encoding": "gzip", "content-length": String(bomb.length) };
      const response = await requestRaw(service.url, { method, path, headers: coded, body: bomb });
      const { detail } = await expectProblem(response, "wrong-type");
      expect(detail).toContain("without Content-Encoding");
    }
    expect(memoryOf(service.pid) - before).toBeLessThan(40);
    expect((await upload(service, device, reportOf(device))).status).toBe(201);
  });

  it("is refused where there is no body to take, and as a transfer coding", async () => {
    const path = "/v1/tasks";
    const headers = { "content-encoding": "gzip", "content-length": String(bomb.length) };
    const response = await requestRaw(service.url, {
      method: "GET",
      path: `${path}/${task.name}`,
      headers,
      body: bomb,
    });
    await expectProblem(response, "wrong-size");
    const coded = { "content-type": "application/json", "transfer-encoding": "gzip, chunked" };
    const answer = await requestRaw(service.url, { method: "POST", path, headers: coded, body: "0\r\n\r\n" });
    expect([400, 401]).toContain(answer.status);
  });
});

it("none of this was logged as a failure of the service", () => {
  expect(service.logged.filter((line) => line.includes("request failed"))).toEqual([]);
});
