import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Database } from "../dist/storage/database.js";
import { openPostgres } from "../dist/storage/postgres.js";
import { fetchTask, type KnownTask } from "./device.ts";
import { temporaryFolder } from "./folder.ts";
import { type PostgresServer, startPostgres } from "./postgres.ts";
import { ADMIN_TOKEN, createTask } from "./service.ts";
import { type ServiceProcess, startServiceProcess } from "./service-process.ts";

/** A service whose devices are divided among databases on several servers; everything ends with the test. */
export interface DividedService {
  readonly servers: readonly PostgresServer[];
  readonly urls: readonly string[];
  /** A look into each database. */
  readonly databases: readonly Database[];
  readonly keyFile: string;
  /** Starts a process on all databases, or on those with these places in the list. */
  start(role: "all" | "intake" | "tally", options?: StartOptions): Promise<ServiceProcess>;
}

interface StartOptions {
  readonly on?: readonly number[];
  readonly abandonLostWindows?: boolean;
}

const LEASE_SECONDS = 2;

export async function divideService(count: number): Promise<DividedService> {
  const servers = await Promise.all(Array.from({ length: count }, () => startPostgres()));
  for (const server of servers) onTestFinished(server.remove);
  const urls = await Promise.all(servers.map((server) => server.createDatabase()));
  const databases = await Promise.all(urls.map((url) => openPostgres(url)));
  for (const database of databases) onTestFinished(database.close);
  const keyFile = join(temporaryFolder(), "keys");
  return {
    servers,
    urls,
    databases,
    keyFile,
    start: async (role, { on = urls.map((_, i) => i), abandonLostWindows = false } = {}) => {
      const databaseUrl = on.map((place) => urls[place]).join(" ");
      const keys = { keyFile, adminToken: ADMIN_TOKEN, threads: 1, keysAhead: 80, leaseSeconds: LEASE_SECONDS };
      const started = await startServiceProcess({
        ...{ role, databaseUrl, host: "127.0.0.1", port: 0 },
        ...(role !== "intake" && { ...keys, abandonLostWindows }),
      });
      onTestFinished(() => started.kill().catch(() => undefined));
      return started;
    },
  };
}

export async function makeTask(tally: ServiceProcess, task: Parameters<typeof createTask>[1]): Promise<KnownTask> {
  await createTask(tally, task);
  return fetchTask(tally, task.task);
}
