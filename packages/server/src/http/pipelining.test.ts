import { readFileSync } from "node:fs";
import { get } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { windowAt } from "@lethe/core/message";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import {
  askToEnrol,
  type Device,
  enrolMany,
  fetchTask,
  type KnownTask,
  reportOf,
  reportPath,
  upload,
} from "../../test/device.ts";
import { eventually } from "../../test/eventually.ts";
import { copyEmptyDatabase, temporaryFolder } from "../../test/folder.ts";
import { MONTHS_TASK, WINDOW } from "../../test/processes.ts";
import { openConnection } from "../../test/raw-http.ts";
import { ADMIN_TOKEN, createTask, EXACT_TASK, startTestService, type TestService } from "../../test/service.ts";
import { startServiceProcess } from "../../test/service-process.ts";

const SILENCE_MS = 500;
const GET = "GET /healthz HTTP/1.1\r\nHost: test\r\n\r\n";

const statusesIn = (text: string): number[] =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));

describe("one connection", () => {
  let service: TestService;
  let task: KnownTask;
  let window: number;

  beforeAll(async () => {
    const internals = { invalidNoise: () => 0, pollMilliseconds: 100, silenceMilliseconds: SILENCE_MS };
    service = await startTestService({ keysAhead: 3 }, internals);
    await createTask(service, EXACT_TASK);
    task = await fetchTask(service, EXACT_TASK.task);
    window = windowAt(EXACT_TASK, service.clock() / 1000);
  });

  afterAll(() => service?.remove());

  /** What a client gets that sends all this and a last request at once, or in pieces that end at these places. */
  async function answersTo(requests: Buffer, cuts: readonly number[] = []): Promise<number[]> {
    const last = GET.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
    const bytes = Buffer.concat([requests, Buffer.from(last)]);
    const { socket, answered } = await openConnection(service.url);
    const ends = [...new Set([...cuts.map((cut) => cut % bytes.length), bytes.length])].sort((a, b) => a - b);
    for (const [i, end] of ends.entries()) {
      socket.write(bytes.subarray(ends[i - 1] ?? 0, end));
      await new Promise((resolve) => setImmediate(resolve));
    }
    const statuses = statusesIn(await answered);
    expect(statuses.pop()).toBe(200);
    return statuses;
  }

  const put = (device: Device, report: Uint8Array): Buffer =>
    Buffer.concat([
      Buffer.from(
        [
          `PUT ${reportPath(device)} HTTP/1.1`,
          "Host: test",
          "Content-Type: application/octet-stream",
          `Authorization: Bearer ${device.token}`,
          `Content-Length: ${report.length}`,
          "\r\n",
        ].join("\r\n"),
      ),
      report,
    ]);

  it("may send a thousand requests ahead, and gets every answer", async () => {
    expect(await answersTo(Buffer.from(GET.repeat(1000)))).toEqual(new Array(1000).fill(200));
  });

  it("gets right answers in the right order, wherever its bytes are cut", async () => {
    const [device] = await enrolMany(service, task, window, 1);
    if (!device) throw new TypeError("there is no device");
    const report = reportOf(device);
    expect(await answersTo(put(device, report))).toEqual([201]);
    const enrolment = `POST /v1/tasks/${task.name}/windows/1/devices HTTP/1.1`;
    const kinds: readonly [Buffer, number][] = [
      [Buffer.from(GET), 200],
      [put(device, report), 200],
      [put(device, report.slice(1)), 413],
      [Buffer.from("GET /nowhere HTTP/1.1\r\nHost: test\r\n\r\n"), 404],
      [Buffer.from(GET.replace("\r\n\r\n", `\r\nX-Long: ${"x".repeat(1000)}\r\n\r\n`)), 200],
      [Buffer.from(`${enrolment}\r\nHost: test\r\nContent-Length: 0\r\n\r\n`), 410],
      [Buffer.from("POST /nowhere HTTP/1.1\r\nHost: test\r\nContent-Length: 3\r\nContent-Type: a/b\r\n\r\nabc"), 404],
    ];
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...kinds), { minLength: 1, maxLength: 40 }),
        fc.array(fc.nat(20_000), { maxLength: 6 }),
        async (requests, cuts) => {
          const found = await answersTo(Buffer.concat(requests.map(([request]) => request)), cuts);
          expect(found).toEqual(requests.map(([, status]) => status));
        },
      ),
      { numRuns: 30 },
    );
  });

  it("that does not read its answers is cut after a while", async () => {
    const { hostname, port } = new URL(service.url);
    const socket = connect(Number(port), hostname).pause();
    let isCut = false;
    socket.on("error", () => {
      isCut = true;
    });
    // Linux keeps up to 40 MB for a client that does not read. This asks for at least 150 MB.
    socket.write(GET.replace("/healthz", "/openapi.json").repeat(5000));
    await eventually(async () => {
      // The system tells a writer that nobody listens any more.
      socket.write(" ");
      return isCut ? true : undefined;
    });
    expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
  });

  it("that waits for its answer is not cut, however long that takes", async () => {
    await service.restart({ keysAhead: 0 });
    const devices = [];
    for (;;) {
      const started = performance.now();
      const response = await askToEnrol(service, task.name, window);
      devices.push(response.status);
      await response.text();
      if (response.status !== 201) {
        expect(response.status).toBe(503);
        // It was silent for much longer than it may leave an answer unread.
        expect(performance.now() - started).toBeGreaterThan(4 * SILENCE_MS);
        break;
      }
    }
  });
});

describe("many connections that send ahead", () => {
  // Again, because a busy machine keeps everybody waiting.
  it("do not keep others waiting, cost little memory, and nothing that was acknowledged is lost", {
    retry: 3,
  }, async () => {
    const folder = temporaryFolder();
    await copyEmptyDatabase(join(folder, "data"));
    const service = await startServiceProcess({
      ...{ data: join(folder, "data"), keyFile: join(folder, "keys"), adminToken: ADMIN_TOKEN },
      ...{ host: "127.0.0.1", port: 0, threads: 1, keysAhead: 20 },
    });
    onTestFinished(() => service.kill());
    await createTask(service, MONTHS_TASK);
    const task = await fetchTask(service, MONTHS_TASK.task);
    const devices = await enrolMany(service, task, WINDOW, 6);
    const reports = devices.map((device) => reportOf(device));
    const acknowledged: number[] = [];
    const send = async (i: number): Promise<void> => {
      const { status } = await upload(service, devices[i] as Device, reports[i] as Uint8Array);
      expect(status).toBe(201);
      acknowledged.push(i);
    };
    await send(0);
    await send(1);

    const memoryOf = (): number =>
      Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${service.pid}/status`, "utf8"))?.[1]) / 1000;
    const before = memoryOf();
    let most = before;
    const sampling = setInterval(() => {
      most = Math.max(most, memoryOf());
    }, 20);
    onTestFinished(() => clearInterval(sampling));

    const attack = startAttack(service.url, 200, GET.repeat(1600));
    onTestFinished(attack.stop);
    await attack.begun;
    const times: number[] = [];
    for (let i = 0; times.length < 40; i++) {
      const start = performance.now();
      expect(await statusOnNewConnection(`${service.url}/healthz`)).toBe(200);
      times.push(performance.now() - start);
      if (i === 10 || i === 20) await send(i / 10 + 1);
      await sleep(20);
    }
    await attack.stop();
    const sorted = times.toSorted((a, b) => a - b);
    const figures = { median: Math.round(sorted[20] as number), worst: Math.round(sorted.at(-1) as number) };
    console.log(JSON.stringify({ ...figures, before: Math.round(before), most: Math.round(most) }));
    expect(figures.worst).toBeLessThan(5000);
    expect(most - before).toBeLessThan(300);

    await send(4);
    const status = await fetch(`${service.url}/v1/tasks/${task.name}/windows/${WINDOW}`);
    expect(await status.json()).toMatchObject({ enrolled: 6, received: acknowledged.length });
    // The same bytes again: they are there.
    for (const i of acknowledged) {
      expect((await upload(service, devices[i] as Device, reports[i] as Uint8Array)).status).toBe(200);
    }
  });
});

function statusOnNewConnection(url: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    get(url, { agent: false }, (response) => response.resume().on("end", () => resolve(response.statusCode))).on(
      "error",
      reject,
    );
  });
}

/** Connections, in another thread, each of which sends all this at once and reads no answer. */
function startAttack(
  url: string,
  connections: number,
  bytes: string,
): { begun: Promise<unknown>; stop: () => Promise<void> } {
  const thread = new Worker(
    `const { connect } = require("node:net");
    const { parentPort, workerData: { hostname, port, connections, bytes } } = require("node:worker_threads");
    for (let i = 0; i < connections; i++) {
      const socket = connect(Number(port), hostname).pause().on("error", () => undefined);
      socket.write(bytes, () => parentPort.postMessage("sent"));
    }`,
    { eval: true, workerData: { ...pick(new URL(url)), connections, bytes } },
  );
  return {
    begun: new Promise((resolve) => thread.once("message", resolve)),
    stop: async () => void (await thread.terminate()),
  };
}

const pick = ({ hostname, port }: URL): { hostname: string; port: string } => ({ hostname, port });
