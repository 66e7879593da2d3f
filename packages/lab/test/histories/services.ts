import { rmSync } from "node:fs";
import { loadRistretto } from "@lethe/server/ristretto";
import { type Logger, pino } from "pino";
import {
  type Service,
  type ServiceInternals,
  type ServiceOptions,
  startService,
} from "../../../server/dist/service.js";
import { type Database, Unavailable } from "../../../server/dist/storage/database.js";
import { type Databases, oneDatabase } from "../../../server/dist/storage/databases.js";
import { joinDatabases } from "../../../server/dist/storage/join-databases.js";
import { endLeases } from "../../../server/dist/storage/reports.js";
import type { Threads } from "../../../server/dist/tally/threads.js";
import { type Call, createWork } from "../../../server/dist/tally/work.js";
import type { SimulatedDatabase } from "./database.ts";
import type { Network } from "./network.ts";
import { Killed, type SimulatedProcess, type World } from "./world.ts";

/** A process of the service, which is started again whenever it ends. */
export interface ServiceSpec {
  readonly name: string;
  readonly role: NonNullable<ServiceOptions["role"]>;
  /** Where it listens. */
  readonly host: string;
  readonly databases: readonly SimulatedDatabase[];
  readonly keyFile: string;
  readonly peer?: ServiceOptions["peer"];
}

/** What the services of a history share. */
export interface ServiceSurroundings {
  readonly world: World;
  readonly network: Network;
  readonly wrap: (database: Database) => Database;
  readonly onError: (process: SimulatedProcess, line: LogLine) => void;
  /** How many seconds after its death a process starts again. */
  readonly restartAfter: (name: string) => number;
}

/** A line of a log, as pino writes it. */
export interface LogLine {
  readonly level: number;
  readonly msg: string;
  readonly code?: string;
  readonly reason?: string;
}

/** The admin's token of all services. */
export const ADMIN_TOKEN = "the-admin-of-the-simulation";
/** Where devices reach the service. */
export const PUBLIC_HOST = "service.test";
/** Where the admin reaches tallies. */
export const TALLY_HOST = "tally.test";
/** Where the leader reaches the helper. */
export const HELPER_HOST = "helper.test";

const ERROR = 50;
const perform = createWork(await loadRistretto());

/** Starts a process, and starts it again after every death. */
export function keepRunning(spec: ServiceSpec, surroundings: ServiceSurroundings): void {
  const { world, network, onError, restartAfter } = surroundings;
  const start = (): void => {
    const process = world.spawn(spec.name);
    process.onDeath.push(() => {
      network.hangUp(process);
      // A lock of a process that is no more holds nobody up.
      rmSync(`${spec.keyFile}.lock`, { force: true });
      world.later(1000 * restartAfter(spec.name), undefined, start);
    });
    world.later(0, process, () =>
      startProcess(spec, surroundings, process).catch((error: unknown) => {
        if (error instanceof Killed) return;
        // As a process supervisor does: it ends, and starts again.
        if (!(error instanceof Unavailable)) {
          onError(process, { level: ERROR, msg: "the service did not start", reason: String(error) });
        }
        world.kill(process);
      }),
    );
  };
  start();
}

function startProcess(
  { role, host, databases, keyFile, peer }: ServiceSpec,
  { world, network, wrap, onError }: ServiceSurroundings,
  process: SimulatedProcess,
): Promise<Service> {
  const open = async (place: number): Promise<Database> => {
    await world.port(process);
    return wrap((databases[place] as SimulatedDatabase).handle(process));
  };
  const isAlone = role === "all";
  const openAll = async (): Promise<Databases> => {
    if (!isAlone) return joinDatabases(databases.map((_, place) => ({ label: `${place}`, open: () => open(place) })));
    const database = await open(0);
    await endLeases(database);
    return oneDatabase(database);
  };
  const internals: ServiceInternals = {
    invalidNoise: () => 0,
    pollMilliseconds: 5000,
    leaseSeconds: 6,
    openDatabases: openAll,
    startThreads: () => simulatedThreads(world, process),
    listen: async (app) => {
      await app.ready();
      network.listen(host, process, app);
      return `http://${host}`;
    },
  };
  const options: ServiceOptions = {
    role,
    // Where processes share a database, they share the key file.
    databaseUrl: "postgres://simulated",
    ...(role !== "intake" && { keyFile }),
    adminToken: ADMIN_TOKEN,
    host,
    port: 0,
    url: `http://${PUBLIC_HOST}`,
    log: logOf((line) => onError(process, line)),
    keysAhead: 6,
    clock: world.now,
    threads: 1,
    ...(peer && { peer }),
  };
  return startService(options, internals);
}

function logOf(onError: (line: LogLine) => void): Logger {
  const write = (text: string): void => {
    const line = JSON.parse(text) as LogLine;
    if (line.level >= ERROR) onError(line);
  };
  return pino({ level: "error" }, { write });
}

/** The work of threads, in this one: it takes its time, sometimes longer than a lease. */
function simulatedThreads(world: World, process: SimulatedProcess): Threads {
  const run = async (name: string, ...args: unknown[]): Promise<unknown> => {
    await world.port(process);
    const call = [name, ...args.map(copied)] as unknown as Call;
    const { draws } = process;
    const latency = draws.chance(0.06) ? 4000 + draws.below(6000) : 1 + draws.below(300);
    const result = await new Promise((resolve, reject) => {
      world.later(latency, process, () => void perform(call).then(resolve, reject));
    });
    await world.port(process);
    return result;
  };
  // With one thread a process works at three batches at once, without at one.
  return { count: process.draws.chance(0.3) ? 1 : 0, run: run as Threads["run"], close: async () => undefined };
}

/** As a message to a thread is: what the thread wipes is its own copy. */
function copied(argument: unknown): unknown {
  if (typeof argument !== "object" || argument === null || !("windowSecret" in argument)) return argument;
  return { ...argument, windowSecret: (argument.windowSecret as Uint8Array).slice() };
}
