import { join } from "node:path";
import type { Task } from "@lethe/core/message";
import { randomnessFrom } from "@lethe/core/randomness";
import { afterAll, beforeAll, expect, onTestFinished } from "vitest";
import type { Database } from "../dist/storage/database.js";
import { openPostgres } from "../dist/storage/postgres.js";
import { type KnownTask, upload } from "./device.ts";
import { eventually } from "./eventually.ts";
import { temporaryFolder } from "./folder.ts";
import { countedReports } from "./metrics.ts";
import { type PostgresServer, startPostgres } from "./postgres.ts";
import { countedOf, makeReport, runningWindow, type Sent, type Stored, YEAR_TASK } from "./recount.ts";
import { ADMIN_TOKEN } from "./service.ts";
import { type ServiceProcess, startServiceProcess } from "./service-process.ts";
import type { ShiftedClock } from "./shifted-clock.ts";

/** Windows of months, so that nothing happens by the clock. */
export const MONTHS_TASK: Task = { ...YEAR_TASK, ticks: 2 };
export const WINDOW: number = runningWindow(MONTHS_TASK);

const random = randomnessFrom(globalThis.crypto);

/** An empty database, and processes on it, which end with the test. */
export interface Processes {
  readonly keyFile: string;
  start(role: "all" | "intake" | "tally", clock?: ShiftedClock): Promise<ServiceProcess>;
  openDatabase(): Promise<Database>;
}

/** For the tests of a file, which share a PostgreSQL but no database. */
export function processesOnPostgres(): () => Promise<Processes> {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.remove());
  return async () => processesOn(await server.createDatabase());
}

/** Processes on this database, which end with the test. */
export function processesOn(databaseUrl: string): Processes {
  const keyFile = join(temporaryFolder(), "keys");
  return {
    keyFile,
    start: async (role, clock) => {
      const keys = { keyFile, adminToken: ADMIN_TOKEN, threads: 1, keysAhead: 40, leaseSeconds: 2 };
      const common = { role, databaseUrl, host: "127.0.0.1", port: 0 };
      const started = await startServiceProcess(
        role === "intake" ? common : { ...common, ...keys },
        clock && { clock },
      );
      onTestFinished(() => started.kill().catch(() => undefined));
      return started;
    },
    openDatabase: async () => {
      const database = await openPostgres(databaseUrl);
      onTestFinished(() => database.close());
      return database;
    },
  };
}

/** Devices with their reports. */
export function makeReports(intake: ServiceProcess, task: KnownTask, devices: number): Promise<Sent[]> {
  return Promise.all(Array.from({ length: devices }, () => makeReport(intake, task, WINDOW, random)));
}

export async function sendAll(intake: ServiceProcess, reports: readonly Sent[]): Promise<number[]> {
  const answers = await Promise.all(reports.map(({ device, report }) => upload(intake, device, report)));
  return answers.map(({ status }) => status);
}

export async function allCounted(database: Stored, task: KnownTask, reports: number): Promise<void> {
  await eventually(async () => (await countedOf(database, task, WINDOW)) >= reports || undefined);
}

/** Waits until the tallies have counted this number of reports together, and returns how many each has counted. */
export async function requireCountedBy(tallies: readonly ServiceProcess[], reports: number): Promise<number[]> {
  const sum = (counts: readonly number[]): number => counts.reduce((a, b) => a + b);
  const counted = await eventually(async () => {
    const counts = await Promise.all(tallies.map(countedReports));
    return sum(counts) >= reports ? counts : undefined;
  });
  expect(sum(counted)).toBe(reports);
  return counted;
}
