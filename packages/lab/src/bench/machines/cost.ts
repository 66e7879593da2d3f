import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { createTask, fetchManifest } from "@lethe/analyst";
import { layoutOf, reportBytes } from "@lethe/core/message";
import { Client } from "pg";
import { countedBy, enrolAll, loadOf, readMetric, send, TASK } from "../service-load.ts";
import { type ServiceProcess, TOKEN } from "../start-service.ts";
import { KEYS_AHEAD, withSite } from "./growth.ts";

/** What one device costs in one step of its window. */
export interface StepCost {
  /** Microseconds of processor time, of all threads. */
  readonly intake: number;
  readonly tally: number;
  readonly postgres: number;
  /** Bytes of HTTP, headers included: from the device, and to it. */
  readonly sent: number;
  readonly received: number;
  /**
   * Bytes that the tables and their indexes grow by. The pool of keys is left out: it has the same size at any time, and
   * its rows come and go.
   */
  readonly stored: number;
  /** Bytes of the write-ahead log. */
  readonly wal: number;
}

/** The steps of a device's window, in their order. */
export const STEPS = ["enrol", "upload", "count", "erase"] as const;

/** What one device costs in one window, step by step. */
export type DeviceCost = Readonly<Record<(typeof STEPS)[number], StepCost>>;

/** The readings between which a step happens. */
interface Readings {
  readonly intake: number;
  readonly tally: number;
  readonly postgres: number;
  readonly stored: number;
  readonly wal: number;
}

const TICKS_PER_SECOND = 100;

/** Measures what a device costs, with one intake, one tally and one PostgreSQL server, none of them limited. */
export async function measureCost(devices: number, note: (text: string) => void): Promise<DeviceCost> {
  return withSite(1, async ({ postgres: [server], start }) => {
    if (!server) throw new TypeError("there is no PostgreSQL server");
    const client = new Client({ connectionString: server.url });
    await client.connect();
    const intake = await start("intake");
    let tally = await start("tally");
    const read = (): Promise<Readings> => readAll(client, server.pid, intake, tally);
    try {
      await createTask(tally.url, TOKEN, TASK);
      const manifest = await fetchManifest(tally.url, TASK.task);
      await poolIsFull(tally);
      // Code is compiled, and connections are open.
      const warm = await enrolAll([intake.port], manifest, devices);
      const load = { ...loadOf(warm, reportBytes(layoutOf(manifest))), ports: [intake.port] };
      await send(load);
      await allCounted(tally, devices);
      await poolIsFull(tally);

      note("cost of a device: enrolling");
      const atFirst = await read();
      const enrolled = await enrolAll([intake.port], manifest, devices);
      await poolIsFull(tally);
      const afterEnrolling = await read();
      await tally.close();

      note("cost of a device: uploading and counting");
      tally = await start("tally");
      process.kill(tally.pid, "SIGSTOP");
      const beforeUploads = await readAll(client, server.pid, intake, undefined);
      const uploaded = await send({ ...load, ...loadOf(enrolled, load.bytes) });
      const afterUploads = await readAll(client, server.pid, intake, undefined);
      process.kill(tally.pid, "SIGCONT");
      const beforeCounting = { ...afterUploads, tally: await processorTimeOf(tally) };
      await allCounted(tally, devices);
      const afterCounting = await read();

      note("cost of a device: releasing and erasing");
      await closeAndErase(client, tally, enrolled.window);
      const atLast = await read();
      const wire = (of: { sent: number; received: number }, count: number) => ({
        sent: of.sent / count,
        received: of.received / count,
      });
      return {
        enrol: { ...perDevice(atFirst, afterEnrolling, devices), ...wire(enrolled, 1) },
        upload: { ...perDevice(beforeUploads, afterUploads, devices), ...wire(uploaded, devices) },
        count: { ...perDevice(beforeCounting, afterCounting, devices), sent: 0, received: 0 },
        // All devices of the window, those of the warm-up included.
        erase: { ...perDevice(afterCounting, atLast, 2 * devices), sent: 0, received: 0 },
      };
    } finally {
      await client.end();
      await tally.close();
      await intake.close();
    }
  });
}

function perDevice(before: Readings, after: Readings, devices: number): Omit<StepCost, "sent" | "received"> {
  const each = (of: keyof Readings): number => (after[of] - before[of]) / devices;
  return {
    intake: each("intake"),
    tally: each("tally"),
    postgres: each("postgres"),
    stored: each("stored"),
    wal: each("wal"),
  };
}

async function readAll(
  client: Client,
  serverPid: number,
  intake: ServiceProcess,
  tally: ServiceProcess | undefined,
): Promise<Readings> {
  const { rows } = await client.query<{ wal: string; stored: string }>(
    `SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn AS wal, (SELECT sum(pg_total_relation_size(oid)) FROM pg_class
       WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname <> 'spare_keys') AS stored`,
  );
  return {
    intake: await processorTimeOf(intake),
    tally: tally ? await processorTimeOf(tally) : 0,
    postgres: treeTimeOf(serverPid),
    stored: Number(rows[0]?.stored),
    wal: Number(rows[0]?.wal),
  };
}

/** Microseconds. */
async function processorTimeOf({ url }: ServiceProcess): Promise<number> {
  return 1e6 * (await readMetric(url, "process_cpu_seconds_total"));
}

/** Microseconds of a process, of its children, and of those of its children that have ended. Linux only. */
function treeTimeOf(pid: number): number {
  const timesOf = (id: number): number[] => {
    // The name of the process is in parentheses, and may contain spaces.
    const fields = readFileSync(`/proc/${id}/stat`, "latin1")
      .replace(/^.*\) /s, "")
      .split(" ")
      .map(Number);
    return fields.slice(11, 15);
  };
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1").split(" ").filter(Boolean).map(Number);
  const ticks = [timesOf(pid), ...children.map((child) => timesOf(child).slice(0, 2))].flat();
  return (1e6 / TICKS_PER_SECOND) * ticks.reduce((sum, each) => sum + each, 0);
}

async function poolIsFull({ url }: ServiceProcess): Promise<void> {
  // What was measured may be a second old.
  await sleep(1500);
  while ((await readMetric(url, "lethe_keys_ready")) < KEYS_AHEAD) await sleep(200);
}

async function allCounted({ url }: ServiceProcess, reports: number): Promise<void> {
  while ((await countedBy([url])) < reports) await sleep(50);
}

async function closeAndErase(client: Client, { url }: ServiceProcess, window: number): Promise<void> {
  const response = await fetch(`${url}/v1/tasks/${TASK.task}/windows/${window}/close`, {
    method: "POST",
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  if (!response.ok) throw new Error(`the window could not be closed: ${await response.text()}`);
  // The rows are deleted first, then their room is made free.
  const vacuumed = `SELECT min(vacuum_count)::int AS times FROM pg_stat_user_tables
    WHERE relname IN ('reports', 'uncounted', 'devices')`;
  while ((await client.query<{ times: number }>(vacuumed)).rows[0]?.times === 0) await sleep(200);
}
