import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PGlite, types } from "@electric-sql/pglite";
import { createTask, fetchManifest } from "@lethe/analyst";
import { secret } from "@lethe/core/encryption";
import { keyContextOf, type LayoutPart, layoutOf, reportBytes, type TaskLayout } from "@lethe/core/message";
import { randomnessFrom, withBufferedRandomness } from "@lethe/core/randomness";
import { median } from "../arithmetic/averages.ts";
import type { Load, Uploads } from "./load-client.ts";
import { countingRate, enrolAll, type LoadSize, loadOf, run, TASK } from "./service-load.ts";
import { startBare } from "./start-bare.ts";
import { startService, TOKEN } from "./start-service.ts";
import { type Measurement, microseconds } from "./stopwatch.ts";

const random = randomnessFrom(globalThis.crypto);

/**
 * Uploads to the whole service, which commits before it answers, beside the bare parts that bound it. Medians over the
 * rounds.
 */
export async function benchService(
  { uploads: each, rounds: count, warmUp }: LoadSize,
  report: (row: Measurement) => void,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "lethe-bench-"));
  try {
    const service = await startService({ data: join(folder, "data"), keyFile: join(folder, "keys"), threads: 1 });
    try {
      await createTask(service.url, TOKEN, TASK);
      const manifest = await fetchManifest(service.url, TASK.task);
      const layout = layoutOf(manifest);
      const bytes = reportBytes(layout);
      const insert = await bareInserts(join(folder, "bare"), bytes, each);
      const composite = await startBare(join(folder, "composite"));
      const rounds: Round[] = [];
      for (let round = 0; round < warmUp + count; round++) {
        const enrolled = await enrolAll([service.port], manifest, each);
        const load = loadOf(enrolled, bytes);
        const http = await bareHttp({ ...load, ports: [] });
        const inserts = await insert.run();
        const both = await run({ ...load, ports: [composite.port] });
        const before = bareOpening(layout);
        const uploads = await run({ ...load, ports: [service.port] });
        const counted = await countingRate([service.url], round * each, each);
        // Before and after, because a machine that others use is not as fast at all times.
        const opening = (before + bareOpening(layout)) / 2;
        if (round >= warmUp) rounds.push({ enrolments: enrolled.rate, http, inserts, both, opening, uploads, counted });
      }
      await insert.close();
      await composite.close();
      for (const row of rowsOf(rounds, bytes)) report(row);
    } finally {
      await service.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function rowsOf(rounds: readonly Round[], bytes: number): Measurement[] {
  const rate = (name: string, of: (round: Round) => number): Measurement => {
    return { name, value: median(rounds.map(of)), unit: "1/s" };
  };
  const ratio = (name: string, of: (round: Round) => number): Measurement => ({ ...rate(name, of), unit: "ratio" });
  return [
    rate("service: enrolments, keys made by one thread", ({ enrolments }) => enrolments),
    rate(`bare node:http, ${bytes} bytes per body, nothing stored`, ({ http }) => http),
    rate("bare batched inserts into PGlite, 200 rows each", ({ inserts }) => inserts),
    rate("bare batched inserts into PGlite through HTTP", ({ both }) => both),
    rate("service: uploads of 1,000-counter reports accepted", ({ uploads }) => uploads),
    ratio(
      "service: uploads accepted / the slower bare part",
      ({ http, inserts, uploads }) => uploads / Math.min(http, inserts),
    ),
    ratio(
      "bare inserts through HTTP / the slower bare part",
      ({ http, inserts, both }) => both / Math.min(http, inserts),
    ),
    ratio("service: uploads accepted / bare inserts through HTTP", ({ both, uploads }) => uploads / both),
    rate("bare opening of 1,000-counter reports on one core", ({ opening }) => opening),
    rate("service: reports opened and counted by one thread", ({ counted }) => counted),
    ratio("service: reports opened / bare opening", ({ opening, counted }) => counted / opening),
  ];
}

/** Rates per second. */
interface Round {
  readonly enrolments: number;
  readonly http: number;
  readonly inserts: number;
  /** Both together: bare inserts through HTTP. */
  readonly both: number;
  readonly opening: number;
  readonly uploads: number;
  readonly counted: number;
}

async function bareHttp(load: Load & Uploads): Promise<number> {
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
    return await run({ ...load, ports: [(server.address() as AddressInfo).port] });
  } finally {
    server.close();
  }
}

/** How many reports per second the mathematics alone opens; the reports are as random as those that were uploaded. */
function bareOpening(layout: TaskLayout): number {
  const [part] = layout as [LayoutPart];
  const master = secret(crypto.getRandomValues(new Uint8Array(32)));
  const report = crypto.getRandomValues(new Uint8Array(part.device.bytes.report));
  const context = keyContextOf(part, { task: TASK.task, window: 0, device: new Uint8Array(16), role: "tally" });
  const open = (): void =>
    void withBufferedRandomness(random, (buffered) => part.server.open(master, context, report, buffered));
  return 1e6 / microseconds(open);
}

/** Inserts rows into a table like the service's own, bytes as they are, and nothing else. */
async function bareInserts(
  folder: string,
  bytes: number,
  count: number,
): Promise<{ run(): Promise<number>; close(): Promise<void> }> {
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
      // Leftovers of the round before must not be written out while others are measured.
      await database.exec("CHECKPOINT");
      const start = performance.now();
      for (let batch = 0; batch < count / rows; batch++) {
        const parameters = Array.from({ length: rows }, () => [
          crypto.getRandomValues(new Uint8Array(16)),
          body,
        ]).flat();
        await database.query(`INSERT INTO bare (device, window_id, body) VALUES ${values}`, parameters);
      }
      return count / ((performance.now() - start) / 1000);
    },
    close: () => database.close(),
  };
}
