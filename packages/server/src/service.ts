import { availableParallelism } from "node:os";
import { LetheError } from "@lethe/core/error";
import type { Task } from "@lethe/core/message";
import { noisedInvalidCount } from "@lethe/core/privacy";
import { randomnessFrom } from "@lethe/core/randomness";
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import { givenClock, type ServiceClock, startClock } from "./clock/clock.ts";
import { asRun } from "./development.ts";
import type { Admin } from "./http/admin-routes.ts";
import { type ApiParts, createApi } from "./http/api.ts";
import { limitConnections } from "./http/connections.ts";
import { createMetrics } from "./http/metrics.ts";
import { describeApi } from "./http/openapi.ts";
import { addOperations, reasonOf } from "./http/operations.ts";
import { peerRoute } from "./http/peer-route.ts";
import { sdkRoutes } from "./http/sdk-routes.ts";
import { createHttp } from "./http/server.ts";
import { createTurns } from "./in-turn.ts";
import type { EnrolmentRules } from "./intake/admission.ts";
import { type Intake, startIntake } from "./intake/intake.ts";
import { requireToken } from "./intake/token.ts";
import { requireNoDevelopmentTask } from "./peer/agreed-task.ts";
import { createHelperClient, type Helper, type Peer } from "./peer/client.ts";
import { requirePeer, requireSameHelper, requireSignedByLeader } from "./peer/peer-keys.ts";
import { addAgreement, openAgreements, removeAgreement } from "./storage/agreements.ts";
import { measureBacklog } from "./storage/backlog.ts";
import { openDataFolder } from "./storage/data-folder.ts";
import type { Database } from "./storage/database.ts";
import { findOperator } from "./storage/operator.ts";
import { openPostgres } from "./storage/postgres.ts";
import { createTaskRegistry } from "./storage/tasks.ts";
import { closeWindow, type WindowIdentity } from "./storage/windows.ts";
import { createTask } from "./tally/create-task.ts";
import { answerRequests, forwardTask } from "./tally/forward-task.ts";
import { belongsToDatabase, type KeyFile } from "./tally/key-file.ts";
import { openKeys, requireSecrets, requireSignedBy } from "./tally/open-keys.ts";
import { startTally, type Tally } from "./tally/tally.ts";
import { startThreads, type Threads } from "./tally/threads.ts";
import { openWindows } from "./tally/windows.ts";
import { within } from "./within.ts";

/**
 * `intake` takes in what devices send; `tally` holds the keys, opens, releases, and answers the admin; `all` is both. For tasks of two servers: `leader` is
 * all that, but opens its half only, and asks the `helper` about the other.
 */
export type Role = "all" | "intake" | "tally" | "leader" | "helper";

export interface ServiceOptions {
  /** By default `all`; the others need a database that processes can share. */
  readonly role?: Role;
  /** The folder of the embedded database, or else: */
  readonly data?: string;
  /** a PostgreSQL server, which any number of processes may share. */
  readonly databaseUrl?: string;
  /** All secrets; outside of the data folder, so that a backup of that holds none. An intake has none. */
  readonly keyFile?: string;
  /** An intake that has one answers the admin, too; tasks are signed by a tally. */
  readonly adminToken?: string;
  readonly host: string;
  /** 0 takes any that is free. */
  readonly port: number;
  /** Of a leader or a helper: the other. */
  readonly peer?: Peer;
  /** Where devices reach the service, as manifests tell; by default where it listens. */
  readonly url?: string;
  /** Take a device's address from the last entry of X-Forwarded-For: only behind a proxy that writes it. */
  readonly trustProxy?: boolean;
  readonly log: Logger;
  readonly enrolment?: Partial<EnrolmentRules>;
  /** Threads that open reports and make keys. */
  readonly threads?: number;
  /** How many device keys lie ready for each window. */
  readonly keysAhead?: number;
  /** Bytes that stay free on the disk of the embedded database; by default 5% of the volume, 24 to 256 MB. */
  readonly leastFreeBytes?: number;
  /** Seconds that the embedded database may take for a statement before it is given up; by default 30. */
  readonly databaseSeconds?: number;
  /** Called before an embedded database is made, which takes seconds. */
  readonly onCreating?: () => void;
  /** The key file belongs to another database, which is lost: begin with this one, which is empty. */
  readonly newDatabase?: boolean;
  /** Give up windows whose secret is not in the key file, for ever, instead of refusing to start. */
  readonly abandonLostWindows?: boolean;
  /** The clock is right, whatever time was stored: the operator's word, for this start. */
  readonly acceptClock?: boolean;
  /** The SDK for pages, one ES module, which processes that answer devices deliver at `/lethe.js` and under its hash. */
  readonly sdk?: Uint8Array;
  /** Every task gets windows of seconds. */
  readonly development?: boolean;
  /** Milliseconds since 1970, and believed. By default the machine's clock, which is believed while it agrees with the time that passes. */
  readonly clock?: () => number;
}

export interface Service {
  /** Where it listens. */
  readonly url: string;
  /** What devices pin; an intake may not know it before a tally has begun. */
  readonly operatorKey: string | undefined;
  /**
   * Resolves, with why, if it can never go on: `bad-database` if the embedded database does not answer any more, `bad-data-folder` if its
   * folder is gone. All requests fail by then; whoever started it should close it, and end the process.
   */
  readonly broken: Promise<LetheError>;
  /** Takes no more requests, finishes those under way, and leaves everything on disk. */
  close(): Promise<void>;
}

/** What only tests change. */
export interface ServiceInternals {
  readonly invalidNoise: () => number;
  /** How often the tally looks around by itself. */
  readonly pollMilliseconds?: number;
  /** How long a tally that died keeps others from its reports. */
  readonly leaseSeconds?: number;
  /** How long a client may leave its answers unread. */
  readonly silenceMilliseconds?: number;
}

const random = randomnessFrom(globalThis.crypto);
const INTERNALS: ServiceInternals = { invalidNoise: () => noisedInvalidCount(0, random) };

const KEYS_AHEAD = 500;
const LEASE_SECONDS = 30;
const POLL_MILLISECONDS = 1000;
const DEVELOPMENT_POLL_MILLISECONDS = 200;
const IDLE_MILLISECONDS = 50;
const CLOSING_MILLISECONDS = 5000;
const READY_MILLISECONDS = 5000;
/** What sweeps a whole table may take so many times as long. */
const LONG_STATEMENT_FACTOR = 20;
const VERSION = "0.1.0";
const NOT_FOUND: Readonly<Record<Role, string>> = {
  all: "there is nothing at this path",
  intake: "there is nothing at this path: this process is an intake; the admin asks a tally",
  tally: "there is nothing at this path: this process is a tally; devices ask an intake",
  leader: "there is nothing at this path",
  helper: "there is nothing at this path: this process is a helper; devices ask its leader",
};

/** Starts a process of the service: intake, tally and release, or a part of them. */
export async function startService(options: ServiceOptions, internals: ServiceInternals = INTERNALS): Promise<Service> {
  const { log, role = "all" } = options;
  for (const token of options.enrolment?.tokens ?? []) requireToken("an enrolment token", token);
  if (options.adminToken !== undefined) requireToken("the admin token", options.adminToken);
  const owner = role === "intake" ? undefined : requireOwner(options);
  const peer = owner && (role === "leader" || role === "helper") && requirePeer(options.peer, role, owner.keyFile);
  const database = await openDatabase(options, role);
  const ends = [database.close];
  let ended: Promise<void> | undefined;
  const close = (): Promise<void> => {
    database.guard?.hurry();
    ended ??= inOrder(ends.toReversed());
    return ended;
  };
  try {
    const clock = await openClock(options, database);
    ends.push(clock.stop);
    const pairing = { shared: options.databaseUrl !== undefined, isNewDatabase: options.newDatabase ?? false };
    const keyFile = owner && (await openKeys(database, owner.keyFile, pairing));
    if (keyFile) ends.push(async () => keyFile.close());
    const requireSigned = keyFile && requireSignedBy(keyFile.operatorKey);
    const tasks = createTaskRegistry(database, peer && role === "helper" ? requireSignedByLeader(peer) : requireSigned);
    await tasks.refresh();
    if (peer && role === "leader") requireSameHelper(tasks, peer);
    if (role === "helper" && !options.development) await requireNoDevelopmentTask(database, tasks);
    const common: Common = { database, tasks, log, clock, metrics: createMetrics() };
    common.metrics.watchClock(() => clock.doubt() !== undefined);
    if (database.guard) common.metrics.watchDisk(database.guard.room);
    if (keyFile) await requireSecrets({ ...common, now: clock.guess }, keyFile, options.abandonLostWindows ?? false);
    const takesReports = role !== "tally" && role !== "helper";
    const intake = !takesReports
      ? undefined
      : startIntake({ ...common, ...options, now: clock.guess, wake: () => vault?.wake() });
    if (intake) ends.push(intake.stop);
    const address: Address = { url: options.url ?? null, listens: "" };
    const vault = keyFile && owner && startVault(common, keyFile, { ...options, ...owner }, internals, intake, address);
    if (vault) ends.push(vault.stop);

    const admin =
      vault ??
      (options.adminToken !== undefined ? remoteAdmin(common, options.adminToken, intake, address) : undefined);
    const routes = createApi({ ...common, ...(intake && { intake }), ...(admin && { admin }) });
    if (vault && keyFile && peer && role === "helper") {
      const isDevelopment = options.development ?? false;
      routes.push(peerRoute({ ...common, now: clock.now, keyFile, peer, threads: vault.threads, isDevelopment }));
    }
    if (intake && options.sdk) routes.push(...(await sdkRoutes(database, log, options.sdk)));
    const app = createHttp({
      ...common,
      routes,
      notFound: NOT_FOUND[role],
      adminToken: options.adminToken,
      trustProxy: options.trustProxy ?? false,
      onRefused: intake?.refused ?? (() => undefined),
      lookForTask: tasks.lookFor,
      ...(internals.silenceMilliseconds !== undefined && { silenceMilliseconds: internals.silenceMilliseconds }),
    });
    const lastError = (): Error | undefined => clock.doubt() ?? intake?.lastError() ?? vault?.lastError();
    addOperations(app, {
      description: describeApi(routes, VERSION),
      metrics: common.metrics,
      whyNotReady: () => whyNotReady(database, lastError),
    });
    ends.push(() => closeHttp(app));
    const url = await app.listen({ host: options.host, port: options.port });
    limitConnections(app.server, log);
    address.listens = url;
    const broken = database.guard?.broken ?? new Promise<never>(() => undefined);
    void broken.then(({ code, message: reason }) => log.fatal({ code, reason }, "the service cannot go on"));
    return { url, operatorKey: await findOperator(database), broken, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** In one line; undefined if everything works. It never waits longer than a monitor would. */
async function whyNotReady(database: Database, lastError: () => Error | undefined): Promise<string | undefined> {
  try {
    database.guard?.requireRoom();
    const answer = await within(READY_MILLISECONDS, database.query("SELECT 1"));
    if (!answer) return `the database has not answered for ${READY_MILLISECONDS / 1000} s`;
    const error = lastError();
    return error && reasonOf(error);
  } catch (error) {
    return reasonOf(error as Error);
  }
}

/** All of them, whatever becomes of one; the first failure is told at the end. */
async function inOrder(steps: readonly (() => Promise<void>)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const step of steps) await step().catch((error: unknown) => void failures.push(error));
  if (failures.length > 0) throw failures[0];
}

interface Common extends ApiParts {
  readonly log: Logger;
}

/** The part that holds the keys: it opens and releases by itself, and does what the admin asks. */
interface Vault extends Admin, Tally {
  readonly threads: Threads;
}

function startVault(
  { database, tasks, log, clock, metrics }: Common,
  keyFile: KeyFile,
  options: ServiceOptions & Owner,
  { invalidNoise, pollMilliseconds, leaseSeconds = LEASE_SECONDS }: ServiceInternals,
  intake: Intake | undefined,
  own: Address,
): Vault {
  const { development = false, adminToken, role, peer } = options;
  const { now } = clock;
  const helper = role === "leader" ? helperOf(peer, now) : undefined;
  const threads = startThreads(options.threads ?? Math.max(1, availableParallelism() - 1));
  const inTurn = createTurns();
  const common = { database, tasks, keyFile, ...(helper && { helper }) };
  const create = async (task: Task, asked: Readonly<Address>): ReturnType<Admin["createTask"]> => {
    // Devices reach the process that was asked, unless somebody has said otherwise.
    const url = asked.url ?? own.url ?? asked.listens;
    const created = await inTurn(() => createTask({ ...common, url, now: now() }, asRun(task, development)));
    await openWindows(database, tasks, keyFile, now(), invalidNoise);
    return created;
  };
  const tally = startTally({
    ...common,
    isHelper: role === "helper",
    threads,
    log,
    now,
    keysAhead: options.keysAhead ?? KEYS_AHEAD,
    pollMilliseconds: pollMilliseconds ?? (development ? DEVELOPMENT_POLL_MILLISECONDS : POLL_MILLISECONDS),
    leaseSeconds,
    invalidNoise,
    answerRequests: () =>
      answerRequests({ database, now, adminToken, operatorKey: keyFile.operatorKey, createTask: create }),
    isIntakeBusy: intake?.isBusy ?? (() => false),
    beforeClose: intake?.flush ?? (async () => undefined),
    onCounted: metrics.counted,
    onLooked: metrics.looked,
    onFailed: metrics.failed,
    onFinished: metrics.finished,
  });
  metrics.watch(async () => {
    const backlog = await measureBacklog(database, tasks, clock.guess());
    // A helper's keys lie ready at its leader.
    return role === "helper" ? { ...backlog, keys: Number.POSITIVE_INFINITY } : backlog;
  });
  if (role === "helper")
    return {
      ...tally,
      ...helperAdmin(database, development),
      threads,
      stop: () => inOrder([tally.stop, threads.close]),
    };
  return {
    ...tally,
    threads,
    stop: () => inOrder([tally.stop, threads.close]),
    createTask: async (task) => {
      const created = await create(task, own);
      tally.wake();
      return created;
    },
    close: async (window) => {
      await closeByHand(database, log, intake, window);
      tally.wake();
    },
  };
}

/** What the admin can ask of a helper: its tasks and windows are its leader's to make. */
function helperAdmin(database: Database, isDevelopment: boolean): Admin {
  return {
    createTask: async () => {
      throw new LetheError(
        "bad-task",
        "mode two-server: a helper agrees to tasks that its leader makes: npx lethe task agree",
      );
    },
    close: async () => {
      throw new LetheError("window-not-open", "a helper's windows close when its leader's do");
    },
    agreements: {
      add: async (task) => ((await addAgreement(database, task)) ? asRun(task, isDevelopment) : undefined),
      open: () => openAgreements(database),
      withdraw: (task, version) => removeAgreement(database, task, version),
    },
  };
}

function helperOf(peer: Peer | undefined, now: () => number): Helper & { url: string; operatorKey: string } {
  if (!peer?.url) throw new LetheError("bad-role", "a leader needs the address of its helper");
  const { url, operatorKey } = peer;
  return { ...createHelperClient({ ...peer, url }, now), url, operatorKey };
}

/** What the admin can ask of a process without keys. */
function remoteAdmin(
  common: Common,
  adminToken: string,
  intake: Intake | undefined,
  address: Readonly<Address>,
): Admin {
  return {
    createTask: (task) => forwardTask({ ...common, now: common.clock.now }, adminToken, address, task),
    close: (window) => closeByHand(common.database, common.log, intake, window),
  };
}

async function closeByHand(
  database: Database,
  log: Logger,
  intake: Intake | undefined,
  { id, name, number }: WindowIdentity,
): Promise<void> {
  await intake?.flush();
  if (await closeWindow(database, id)) log.info({ task: name, window: number }, "closed by hand");
}

/** Where devices reach this process, if the operator has said so; and where it listens, when it does. */
interface Address {
  readonly url: string | null;
  listens: string;
}

/** What a process has that holds the keys. */
interface Owner {
  readonly keyFile: string;
  readonly adminToken: string;
}

function requireOwner({ keyFile, adminToken }: ServiceOptions): Owner {
  if (keyFile === undefined) throw new LetheError("bad-role", "who holds keys needs a key file");
  if (adminToken === undefined) throw new LetheError("bad-role", "who holds keys needs an admin token");
  return { keyFile, adminToken };
}

function openDatabase(options: ServiceOptions, role: Role): Promise<Database> {
  const { data, databaseUrl, keyFile, newDatabase, leastFreeBytes, databaseSeconds, log, onCreating } = options;
  if (databaseUrl !== undefined) return openPostgres(databaseUrl);
  if (role === "intake" || role === "tally") {
    throw new LetheError(
      "bad-role",
      `role ${role} needs a PostgreSQL database, which processes can share: set DATABASE_URL`,
    );
  }
  if (data === undefined) throw new LetheError("bad-role", "a service needs a data folder, or DATABASE_URL");
  return openDataFolder(data, {
    mayCreate: newDatabase || keyFile === undefined || !belongsToDatabase(keyFile),
    floorBytes: leastFreeBytes,
    onCreating,
    ...(databaseSeconds !== undefined && {
      patience: { statement: databaseSeconds, long: LONG_STATEMENT_FACTOR * databaseSeconds },
    }),
    log,
  });
}

function openClock(
  { clock, databaseUrl, log, acceptClock = false, development = false }: ServiceOptions,
  database: Database,
): Promise<ServiceClock> {
  if (clock) return Promise.resolve(givenClock(clock));
  const isServer = databaseUrl !== undefined;
  return startClock({ database, isServer, log, accept: acceptClock, anyGap: development });
}

/** Requests under way are answered; connections that send nothing are not waited for. */
async function closeHttp(app: FastifyInstance): Promise<void> {
  const idle = setInterval(() => app.server.closeIdleConnections(), IDLE_MILLISECONDS);
  const impatient = setTimeout(() => app.server.closeAllConnections(), CLOSING_MILLISECONDS);
  await app.close();
  clearInterval(idle);
  clearTimeout(impatient);
}
