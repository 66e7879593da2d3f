import { fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PGlite, types } from "@electric-sql/pglite";
import { encodeBase64url, reportBytes, type Task } from "@lethe/core/message";
import { openService } from "@lethe/server";
import { pino } from "pino";
import { type EnrolledDevice, enrol, fetchTask, type KnownTask, reportOf, windowFor } from "../fleet.ts";
import type { Load, LoadResult } from "./load-client.ts";
import type { Measurement } from "./stopwatch.ts";

const COUNTERS = 1000;
const DEVICES = 6000;
const CONNECTIONS = 256;
const TOKEN = "a-token-for-the-bench";

const TASK: Task = {
  version: 1,
  task: "bench",
  tickSeconds: 3600,
  ticks: 288,
  graceSeconds: 0,
  mode: "one-server",
  scheme: "lattice",
  minimumDevices: 1,
  metrics: Array.from({ length: COUNTERS }, (_, i) => ({
    name: `counter-${i}`,
    statistic: "occurrence",
    localEpsilon: 1,
  })),
};

/** Uploads and openings of the whole service, each beside the bare parts that bound it. */
export async function benchService(report: (row: Measurement) => void): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "lethe-bench-"));
  try {
    const service = await openService({
      data: join(folder, "data"),
      keyFile: join(folder, "keys"),
      adminToken: TOKEN,
      host: "127.0.0.1",
      port: 0,
      log: pino({ level: "silent" }),
      enrolment: { rate: { perSecond: 1e6, burst: 1e6 } },
    });
    try {
      await createTask(service.url);
      const task = await fetchTask(service.url, TASK.task);
      const devices = await enrolAll(task);
      const bytes = reportBytes(task.layout);
      const load: Load = { ...loadOf(devices, bytes), port: Number(new URL(service.url).port) };

      const http = await bareHttp(load);
      const inserts = await bareInserts(join(folder, "bare"), bytes);
      const uploads = await run(load, 201);
      const slower = Math.min(http, inserts);
      report({ name: `bare node:http, ${bytes} bytes a body, nothing stored`, value: http, unit: "1/s" });
      report({ name: "bare batched inserts into PGlite, 200 rows each", value: inserts, unit: "1/s" });
      report({ name: "service: uploads of 1,000-counter reports accepted", value: uploads, unit: "1/s" });
      report({ name: "service: uploads / the slower bare part", value: uploads / slower, unit: "ratio" });
    } finally {
      await service.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function createTask(url: string): Promise<void> {
  const { status } = await fetch(`${url}/v1/tasks`, {
    method: "POST",
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
    body: JSON.stringify(TASK),
  });
  if (status !== 201) throw new Error(`the bench's task was refused with ${status}`);
}

async function enrolAll(task: KnownTask): Promise<EnrolledDevice[]> {
  const window = windowFor(task).number;
  const devices: EnrolledDevice[] = [];
  const worker = async (): Promise<void> => {
    while (devices.length < DEVICES) devices.push(await enrol(task, window));
  };
  await Promise.all(Array.from({ length: 16 }, worker));
  return devices.slice(0, DEVICES);
}

/** Honest headers and random ciphertexts: intake cannot tell. */
function loadOf(devices: readonly EnrolledDevice[], bytes: number): Omit<Load, "port"> {
  const [first] = devices as [EnrolledDevice];
  const header = reportOf(first, () => 0).subarray(0, 34);
  const requests = devices.map(({ task, window, enrolment: { device, uploadToken } }) => ({
    path: `/v1/tasks/${task.manifest.task}/windows/${window}/reports/${encodeBase64url(device)}`,
    token: uploadToken,
  }));
  return { connections: CONNECTIONS, requests, bytes, header };
}

/** Requests a second, all of which were answered as expected. */
function run(load: Load, expected: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const client = fork(new URL("./load-client.js", import.meta.url), { serialization: "advanced" });
    client.on("error", reject);
    client.on("message", ({ seconds, statuses }: LoadResult) => {
      const good = statuses[expected] ?? 0;
      if (good === load.requests.length) resolve(good / seconds);
      else reject(new Error(`the service answered ${JSON.stringify(statuses)}`));
    });
    client.send(load);
  });
}

async function bareHttp(load: Load): Promise<number> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      response.writeHead(201, { "content-length": 0 });
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    return await run({ ...load, port: (server.address() as AddressInfo).port }, 201);
  } finally {
    server.close();
  }
}

/** Nothing but rows, with the same columns and sizes, bytes as they are. */
async function bareInserts(folder: string, bytes: number): Promise<number> {
  const database = await PGlite.create({
    dataDir: folder,
    serializers: { [types.BYTEA]: (value: unknown) => value as string },
  });
  await database.exec(
    "CREATE TABLE bare (id bytea PRIMARY KEY, digest bytea, body bytea); ALTER TABLE bare ALTER COLUMN body SET STORAGE EXTERNAL",
  );
  const rows = 200;
  const values = Array.from({ length: rows }, (_, i) => `($${3 * i + 1}, $${3 * i + 2}, $${3 * i + 3})`).join(", ");
  const draw = (length: number): Uint8Array => crypto.getRandomValues(new Uint8Array(length));
  const body = draw(bytes);
  const start = performance.now();
  for (let batch = 0; batch < DEVICES / rows; batch++) {
    const parameters = Array.from({ length: rows }, () => [draw(16), draw(32), body]).flat();
    await database.query(`INSERT INTO bare VALUES ${values}`, parameters);
  }
  const seconds = (performance.now() - start) / 1000;
  await database.close();
  return DEVICES / seconds;
}
