import { mkdtempSync, rmSync } from "node:fs";
import { chmod } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createTask, fetchManifest } from "@lethe/analyst";
import { layoutOf, type Manifest, reportBytes } from "@lethe/core/message";
import { countedBy, enrolAll, loadOf, send, TASK } from "../service-load.ts";
import { type Postgres, startPostgres } from "../start-postgres.ts";
import { type ServiceProcess, startService, TOKEN } from "../start-service.ts";
import type { QuotaGroup, Quotas } from "./quota.ts";
import { type WaitSamples, watchWaits } from "./wait-events.ts";

/** What a number of machines does per second, on a number of databases. */
export interface Growth {
  readonly databases: number;
  readonly machines: number;
  /** Rates per second at saturation. */
  readonly enrolments: number;
  readonly uploads: number;
  readonly counted: number;
  /** Uploads that arrive at random, at 70% of the rate of `uploads`; milliseconds from arrival to answer. */
  readonly open: { readonly perSecond: number; readonly p50: number; readonly p99: number };
  readonly waits: WaitSamples;
}

/** What is measured. */
export interface GrowthOptions {
  readonly machines: readonly number[];
  readonly databases: number;
  /** Per machine. */
  readonly devices: number;
  readonly quotas: Quotas;
  /** For people who wait. */
  readonly note: (text: string) => void;
}

/** Keys that lie ready, and that are used up before enrolments are measured. */
export const KEYS_AHEAD = 256;
/** For each machine: enough that a group is there when the last one is stored. */
const CONNECTIONS = 64;
const OPEN_CONNECTIONS = 512;
const OPEN_LOAD = 0.7;

/** Folders of PostgreSQL servers and of the keys, and how to start a process of the service there. */
interface Site {
  readonly postgres: readonly Postgres[];
  start(role: "intake" | "tally"): Promise<ServiceProcess>;
}

/** Measures each number of machines, one after another, on the same databases. */
export async function measureGrowth(options: GrowthOptions): Promise<Growth[]> {
  return withSite(options.databases, async (site) => {
    const tally = await startOn(site, options.databases);
    await createTask(tally.url, TOKEN, TASK);
    const manifest = await fetchManifest(tally.url, TASK.task);
    await tally.close();
    const measured: Growth[] = [];
    for (const machines of options.machines) {
      options.note(`${machines} × machine, ${options.databases} × database`);
      measured.push(await measureMachines(site, manifest, machines, options));
    }
    return measured;
  });
}

/** Starts PostgreSQL servers for `use`, and removes them afterwards. */
export async function withSite<T>(databases: number, use: (site: Site) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "lethe-bench-"));
  const postgres: Postgres[] = [];
  try {
    // The servers may run as another user.
    await chmod(folder, 0o755);
    for (let i = 0; i < databases; i++) postgres.push(await startPostgres(join(folder, `postgres-${i}`)));
    const databaseUrl = postgres.map(({ url }) => url).join(" ");
    const keys = { keyFile: join(folder, "keys"), threads: 1, keysAhead: KEYS_AHEAD };
    return await use({
      postgres,
      start: (role) => startService({ role, databaseUrl, ...(role === "tally" && keys) }),
    });
  } finally {
    for (const server of postgres) await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function startOn(site: Site, databases: number): Promise<ServiceProcess> {
  return site.start("tally").catch((error: unknown) => {
    if (databases === 1) throw error;
    throw new Error(`the service does not start with ${databases} databases: measure with --databases 1`, {
      cause: error,
    });
  });
}

/** Each phase has only the processes that it measures: they share the quota of their machine. */
async function measureMachines(
  site: Site,
  manifest: Manifest,
  machines: number,
  { devices, quotas }: GrowthOptions,
): Promise<Growth> {
  const groups = Array.from({ length: machines }, () => quotas.create());
  const startAll = (role: "intake" | "tally"): Promise<ServiceProcess[]> => startIn(groups, () => site.start(role));
  const waits = await watchWaits(site.postgres.map(({ url }) => url));
  const intakes = await startAll("intake");
  const ports = intakes.map(({ port }) => port);
  try {
    const makers = await startAll("tally");
    await enrolAll(ports, manifest, KEYS_AHEAD + CONNECTIONS * machines);
    const enrolled = await enrolAll(ports, manifest, devices * machines);
    await closeAll(makers);

    const load = { ...loadOf(enrolled, reportBytes(layoutOf(manifest))), ports };
    const some = Math.ceil((2 * load.requests.length) / 3);
    const first = await send({ ...load, requests: load.requests.slice(0, some), connections: CONNECTIONS * machines });
    const uploads = some / first.seconds;
    const rest = { ...load, requests: load.requests.slice(some), connections: OPEN_CONNECTIONS };
    const perSecond = OPEN_LOAD * uploads;
    const { latencies } = await send({ ...rest, perSecond });

    const counters = await startAll("tally");
    const counted = await rateOfCounting(counters, load.requests.length);
    await closeAll(counters);
    return {
      ...{ databases: site.postgres.length, machines, enrolments: enrolled.rate, uploads, counted },
      open: { perSecond, p50: quantile(latencies, 0.5), p99: quantile(latencies, 0.99) },
      waits: await waits.stop(),
    };
  } finally {
    await closeAll(intakes);
    for (const group of groups) group.remove();
  }
}

/** One process in each group. They start with all the processors that they want, and all begin at the same time. */
export async function startIn(
  groups: readonly QuotaGroup[],
  start: () => Promise<ServiceProcess>,
): Promise<ServiceProcess[]> {
  const services = await Promise.all(
    groups.map(async (group) => {
      const service = await start();
      process.kill(service.pid, "SIGSTOP");
      group.add(service.pid);
      return service;
    }),
  );
  for (const { pid } of services) process.kill(pid, "SIGCONT");
  return services;
}

async function closeAll(services: readonly ServiceProcess[]): Promise<void> {
  await Promise.all(services.map((service) => service.close()));
}

/** Reports counted per second, from the first tenth to the last: at the end some tallies have nothing to do. */
async function rateOfCounting(tallies: readonly ServiceProcess[], reports: number): Promise<number> {
  const urls = tallies.map(({ url }) => url);
  const samples: { at: number; counted: number }[] = [];
  for (;;) {
    const counted = await countedBy(urls);
    samples.push({ at: performance.now(), counted });
    if (counted >= reports) return rateBetween(samples, 0.1 * reports, 0.9 * reports);
    await sleep(20);
  }
}

/** The rate from the last sample that does not exceed one count to the first that reaches the other. */
export function rateBetween(
  samples: readonly { readonly at: number; readonly counted: number }[],
  low: number,
  high: number,
): number {
  const first = samples.findLast(({ counted }) => counted <= low) ?? samples[0];
  const last = samples.find(({ counted }) => counted >= high);
  if (!first || !last || last.at <= first.at) throw new RangeError("there is too little to count: use more --devices");
  return (1000 * (last.counted - first.counted)) / (last.at - first.at);
}

/** The value that this fraction of the values does not exceed. */
export function quantile(values: readonly number[], fraction: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(fraction * sorted.length) - 1)] ?? Number.NaN;
}
