import { fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { PGlite, types } from "@electric-sql/pglite";
import { secret } from "@lethe/core/encryption";
import { encodeBase64url, keyContextOf, type LayoutPart, reportBytes, type Task } from "@lethe/core/message";
import { randomnessFrom, withBufferedRandomness } from "@lethe/core/randomness";
import { openService } from "@lethe/server";
import { pino } from "pino";
import { type EnrolledDevice, enrol, fetchTask, inParallel, type KnownTask, reportOf, windowFor } from "../fleet.ts";
import type { Load, LoadResult } from "./load-client.ts";
import { type Measurement, microseconds } from "./stopwatch.ts";

const random = randomnessFrom(globalThis.crypto);

const COUNTERS = 1000;
const UPLOADS = 3000;
const ROUNDS = 4;
const CONNECTIONS = 512;
const TOKEN = "a-token-for-the-bench";

const TASK: Task = {
  version: 1,
  task: "bench",
  tickSeconds: 2_678_400,
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

/** Uploads to the whole service, commit before answer, beside the bare parts that bound them; of each the best round. */
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
      threads: 1,
      enrolment: { rate: { perSecond: 1e6, burst: 1e6 }, mostPerAddress: 1e6 },
    });
    try {
      await createTask(service.url);
      const task = await fetchTask(service.url, TASK.task);
      const bytes = reportBytes(task.layout);
      const port = Number(new URL(service.url).port);
      const insert = await bareInserts(join(folder, "bare"), bytes);
      const bare = bareOpening(task);
      let [http, inserts, uploads, opened] = [0, 0, 0, 0];
      for (let round = 1; round <= ROUNDS; round++) {
        const load: Load = { ...loadOf(await enrolAll(task), bytes), port };
        http = Math.max(http, await bareHttp(load));
        inserts = Math.max(inserts, await insert.run());
        uploads = Math.max(uploads, await run(load, 201));
        opened = Math.max(opened, await countingRate(service.url, round * UPLOADS));
      }
      await insert.close();
      report({ name: `bare node:http, ${bytes} bytes a body, nothing stored`, value: http, unit: "1/s" });
      report({ name: "bare batched inserts into PGlite, 200 rows each", value: inserts, unit: "1/s" });
      report({ name: "service: uploads of 1,000-counter reports accepted", value: uploads, unit: "1/s" });
      report({
        name: "service: uploads accepted / the slower bare part",
        value: uploads / Math.min(http, inserts),
        unit: "ratio",
      });
      report({ name: "bare opening of 1,000-counter reports on one core", value: bare, unit: "1/s" });
      report({ name: "service: reports opened and counted by one thread", value: opened, unit: "1/s" });
      report({ name: "service: reports opened / bare opening", value: opened / bare, unit: "ratio" });
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

function enrolAll(task: KnownTask): Promise<EnrolledDevice[]> {
  const { number } = windowFor(task);
  return inParallel(UPLOADS, () => enrol(task, number), 64);
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

/** Watches until so many reports are counted: how many a second, from when the first are. */
async function countingRate(url: string, reports: number): Promise<number> {
  const read = async (): Promise<number> => {
    const text = await (await fetch(`${url}/metrics`)).text();
    return Number(/^lethe_reports_counted_total (.*)$/m.exec(text)?.[1] ?? 0);
  };
  const before = await read();
  let first: { at: number; counted: number } | undefined;
  for (;;) {
    const counted = await read();
    if (counted > before) first ??= { at: performance.now(), counted };
    if (first && counted === reports) return (counted - first.counted) / ((performance.now() - first.at) / 1000);
    await sleep(20);
  }
}

/** What the mathematics alone takes; the reports are as random as those that were uploaded. */
function bareOpening({ layout }: KnownTask): number {
  const [part] = layout as [LayoutPart];
  const master = secret(crypto.getRandomValues(new Uint8Array(32)));
  const report = crypto.getRandomValues(new Uint8Array(part.device.bytes.report));
  const context = keyContextOf(part, { task: TASK.task, window: 0, device: new Uint8Array(16), role: "tally" });
  const open = (): void =>
    void withBufferedRandomness(random, (buffered) => part.server.open(master, context, report, buffered));
  return 1e6 / microseconds(open);
}

/** Nothing but rows, into a table like the service's own, bytes as they are. */
async function bareInserts(folder: string, bytes: number): Promise<{ run(): Promise<number>; close(): Promise<void> }> {
  const database = await PGlite.create({
    dataDir: folder,
    serializers: { [types.BYTEA]: (value: unknown) => value as string },
  });
  await database.exec(
    `CREATE TABLE bare (device bytea PRIMARY KEY, window_id bigint NOT NULL, body bytea NOT NULL,
       counted boolean NOT NULL DEFAULT false, lease bytea, leased_until timestamptz);
     ALTER TABLE bare ALTER COLUMN body SET STORAGE EXTERNAL;
     CREATE INDEX ON bare (window_id) WHERE NOT counted`,
  );
  const rows = 200;
  const values = Array.from({ length: rows }, (_, i) => `($${2 * i + 1}, 1, $${2 * i + 2})`).join(", ");
  const body = crypto.getRandomValues(new Uint8Array(bytes));
  return {
    run: async () => {
      const start = performance.now();
      for (let batch = 0; batch < UPLOADS / rows; batch++) {
        const parameters = Array.from({ length: rows }, () => [
          crypto.getRandomValues(new Uint8Array(16)),
          body,
        ]).flat();
        await database.query(`INSERT INTO bare (device, window_id, body) VALUES ${values}`, parameters);
      }
      return UPLOADS / ((performance.now() - start) / 1000);
    },
    close: () => database.close(),
  };
}
