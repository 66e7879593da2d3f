import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTask, fetchManifest } from "@lethe/analyst";
import { layoutOf, type Manifest, reportBytes } from "@lethe/core/message";
import { median } from "../arithmetic/averages.ts";
import { countingRate, type Enrolled, enrolAll, type LoadSize, loadOf, run, TASK } from "./service-load.ts";
import { startBare } from "./start-bare.ts";
import { startPostgres } from "./start-postgres.ts";
import { type ServiceProcess, startService, TOKEN } from "./start-service.ts";
import type { Measurement } from "./stopwatch.ts";

const MOST_PROCESSES = 3;

/**
 * Several processes on one PostgreSQL server, beside the least that does the same over HTTP. Uploads are measured while
 * no tally runs, and counting while nobody uploads: in production they would not share processors.
 */
export async function benchCluster(size: LoadSize, report: (row: Measurement) => void): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "lethe-bench-"));
  // The server may run as another user.
  chmodSync(folder, 0o755);
  const postgres = await startPostgres(join(folder, "postgres"));
  try {
    const databaseUrl = postgres.url;
    const startTally = (threads = 1): Promise<ServiceProcess> =>
      startService({ role: "tally", databaseUrl, keyFile: join(folder, "keys"), threads });
    const manifest = await prepare(startTally);
    const intakes = await Promise.all(numbers().map(() => startService({ role: "intake", databaseUrl })));
    const bare = await startBare(databaseUrl);
    const rounds: Round[][] = numbers().map(() => []);
    for (let round = 0; round < size.warmUp + size.rounds; round++) {
      for (const [i, ofNumber] of rounds.entries()) {
        const some = intakes.slice(0, i + 1);
        const enrolled = await measureEnrolment(size.uploads, manifest, some, () => startTally(2));
        const measured = { rate: enrolled.rate, ...(await measure(enrolled, manifest, some, bare.port, startTally)) };
        if (round >= size.warmUp) ofNumber.push(measured);
      }
    }
    await bare.close();
    for (const intake of intakes) await intake.close();
    for (const row of rowsOf(rounds)) report(row);
  } finally {
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

const numbers = (): number[] => Array.from({ length: MOST_PROCESSES }, (_, i) => i + 1);

/** Rates per second, with a given number of processes. */
interface Round {
  readonly rate: number;
  readonly bare: number;
  readonly uploads: number;
  readonly counted: number;
}

/** Creates the task, and keys for its window. */
async function prepare(startTally: () => Promise<ServiceProcess>): Promise<Manifest> {
  const tally = await startTally();
  await createTask(tally.url, TOKEN, TASK);
  const manifest = await fetchManifest(tally.url, TASK.task);
  await tally.close();
  return manifest;
}

/** Enrols devices with as many tallies as intakes: keys are made while devices enrol. */
async function measureEnrolment(
  devices: number,
  manifest: Manifest,
  intakes: readonly ServiceProcess[],
  startTally: () => Promise<ServiceProcess>,
): Promise<Enrolled> {
  const tallies = await Promise.all(intakes.map(startTally));
  const ports = intakes.map(({ port }) => port);
  const enrolled = await enrolAll(ports, manifest, devices);
  for (const tally of tallies) await tally.close();
  return enrolled;
}

/** Measures with as many tallies as intakes. */
async function measure(
  devices: Enrolled,
  manifest: Manifest,
  intakes: readonly ServiceProcess[],
  barePort: number,
  startTally: () => Promise<ServiceProcess>,
): Promise<Omit<Round, "rate">> {
  const uploads = devices.answers.length;
  const bytes = reportBytes(layoutOf(manifest));
  const load = loadOf(devices, bytes);
  const bare = await run({ ...load, ports: [barePort] });
  const accepted = await run({ ...load, ports: intakes.map(({ port }) => port) });
  const tallies = await Promise.all(intakes.map(() => startTally()));
  const urls = tallies.map(({ url }) => url);
  const counted = await countingRate(urls, 0, uploads);
  for (const tally of tallies) await tally.close();
  return { bare, uploads: accepted, counted };
}

function rowsOf(rounds: readonly (readonly Round[])[]): Measurement[] {
  const middle = (number: number, of: (round: Round) => number): number =>
    median((rounds[number - 1] as readonly Round[]).map(of));
  const enrolments = numbers().map((n): Measurement => {
    const name = `PostgreSQL, ${n} × intake, ${n} × tally with 2 threads: enrolments`;
    return { name, value: middle(n, (round) => round.rate), unit: "1/s" };
  });
  const uploads = numbers().flatMap((n): Measurement[] => [
    { name: `PostgreSQL, ${n} × intake: uploads accepted`, value: middle(n, (round) => round.uploads), unit: "1/s" },
    {
      name: `PostgreSQL, ${n} × intake: uploads / bare inserts through HTTP`,
      value: middle(n, (round) => round.uploads / round.bare),
      unit: "ratio",
    },
  ]);
  const one = middle(1, (round) => round.counted);
  const counting = numbers().flatMap((n): Measurement[] => [
    { name: `PostgreSQL, ${n} × tally: reports counted`, value: middle(n, (round) => round.counted), unit: "1/s" },
    { name: `PostgreSQL, ${n} × tally / 1 × tally`, value: middle(n, (round) => round.counted) / one, unit: "ratio" },
  ]);
  const bare = median(rounds.flat().map((round) => round.bare));
  return [
    ...enrolments,
    { name: "bare batched inserts into PostgreSQL through HTTP", value: bare, unit: "1/s" },
    ...uploads,
    ...counting,
  ];
}
