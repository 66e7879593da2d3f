import { fork, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { PGlite, types } from "@electric-sql/pglite";
import { secret } from "@lethe/core/encryption";
import {
  type Enrolment,
  encodeBase64url,
  encodeReport,
  keyContextOf,
  type LayoutPart,
  layoutOf,
  type Manifest,
  parseEnrolment,
  reportBytes,
  type Task,
  type TaskLayout,
} from "@lethe/core/message";
import { randomnessFrom, withBufferedRandomness } from "@lethe/core/randomness";
import { createTask } from "../create-task.ts";
import { fetchManifest, windowFor } from "../fleet.ts";
import { inParallel } from "../in-parallel.ts";
import type { Load, LoadResult } from "./load-client.ts";
import { type Measurement, microseconds } from "./stopwatch.ts";

const random = randomnessFrom(globalThis.crypto);

const COUNTERS = 1000;
const UPLOADS = 20_000;
const ROUNDS = 3;
const WARM_UP = 1;
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

/** Uploads to the whole service, commit before answer, beside the bare parts that bound them, in turn; of each the median round. */
export async function benchService(report: (row: Measurement) => void): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "lethe-bench-"));
  try {
    const service = await startService(folder);
    try {
      await createTask(service.url, TOKEN, TASK);
      const manifest = await fetchManifest(service.url, TASK.task);
      const layout = layoutOf(manifest);
      const bytes = reportBytes(layout);
      const port = Number(new URL(service.url).port);
      const insert = await bareInserts(join(folder, "bare"), bytes);
      const bare = bareOpening(layout);
      const rounds: Round[] = [];
      for (let round = 0; round < WARM_UP + ROUNDS; round++) {
        const load: Load = { ...loadOf(await enrolAll(service.url, manifest), bytes), port };
        const http = await bareHttp(load);
        const inserts = await insert.run();
        const uploads = await run(load, 201);
        const counted = await countingRate(service.url, (round + 1) * UPLOADS);
        if (round >= WARM_UP) rounds.push({ http, inserts, uploads, counted });
      }
      const middle = (of: (round: Round) => number): number => median(rounds.map(of));
      await insert.close();
      report({
        name: `bare node:http, ${bytes} bytes a body, nothing stored`,
        value: middle(({ http }) => http),
        unit: "1/s",
      });
      report({
        name: "bare batched inserts into PGlite, 200 rows each",
        value: middle(({ inserts }) => inserts),
        unit: "1/s",
      });
      report({
        name: "service: uploads of 1,000-counter reports accepted",
        value: middle(({ uploads }) => uploads),
        unit: "1/s",
      });
      report({
        name: "service: uploads accepted / the slower bare part",
        value: middle(({ http, inserts, uploads }) => uploads / Math.min(http, inserts)),
        unit: "ratio",
      });
      report({ name: "bare opening of 1,000-counter reports on one core", value: bare, unit: "1/s" });
      report({
        name: "service: reports opened and counted by one thread",
        value: middle(({ counted }) => counted),
        unit: "1/s",
      });
      report({
        name: "service: reports opened / bare opening",
        value: middle(({ counted }) => counted) / bare,
        unit: "ratio",
      });
    } finally {
      await service.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The service as an operator runs it, in a process of its own. */
async function startService(folder: string): Promise<{ readonly url: string; close(): Promise<void> }> {
  const lethe = fileURLToPath(new URL("../../../cli/bin/lethe.js", import.meta.url));
  const limits = ["--enrolment-rate", "1000000", "--enrolment-burst", "1000000", "--most-per-address", "1000000"];
  const options = ["--data", join(folder, "data"), "--port", "0", "--threads", "1", "--json", ...limits];
  const child = spawn(lethe, ["serve", ...options], {
    env: { ...process.env, LETHE_ADMIN_TOKEN: TOKEN },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  return {
    url: (JSON.parse(line) as { url: string }).url,
    close: async () => {
      child.kill("SIGTERM");
      await once(child, "exit");
    },
  };
}

/** Everything a second. */
interface Round {
  readonly http: number;
  readonly inserts: number;
  readonly uploads: number;
  readonly counted: number;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return ((sorted[(sorted.length - 1) >> 1] as number) + (sorted[sorted.length >> 1] as number)) / 2;
}

interface Enrolled {
  readonly window: number;
  readonly enrolment: Enrolment;
}

function enrolAll(url: string, manifest: Manifest): Promise<Enrolled[]> {
  const { number: window } = windowFor(manifest);
  const path = `${url}/v1/tasks/${TASK.task}/windows/${window}/devices`;
  const enrol = async (): Promise<Enrolled> => {
    for (;;) {
      const response = await fetch(path, { method: "POST" });
      if (response.status === 201) return { window, enrolment: parseEnrolment(await response.text()) };
      // Keys are made as fast as they can be.
      await sleep(100);
    }
  };
  return inParallel(UPLOADS, enrol, 64);
}

/** Honest headers and random ciphertexts: intake cannot tell. */
function loadOf(devices: readonly Enrolled[], bytes: number): Omit<Load, "port"> {
  const [first] = devices as [Enrolled];
  const header = encodeReport(first.enrolment.manifestHash, []);
  const requests = devices.map(({ window, enrolment: { device, uploadToken } }) => ({
    path: `/v1/tasks/${TASK.task}/windows/${window}/reports/${encodeBase64url(device)}`,
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
function bareOpening(layout: TaskLayout): number {
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
    `CREATE TABLE bare (device bytea PRIMARY KEY, window_id bigint NOT NULL, body bytea NOT NULL)
       WITH (toast_tuple_target = 8160);
     ALTER TABLE bare ALTER COLUMN body SET STORAGE EXTERNAL`,
  );
  const rows = 200;
  const values = Array.from({ length: rows }, (_, i) => `($${2 * i + 1}, 1, $${2 * i + 2})`).join(", ");
  const body = crypto.getRandomValues(new Uint8Array(bytes));
  return {
    run: async () => {
      // What is left over from the round before is not to be written out while others are measured.
      await database.exec("CHECKPOINT");
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
