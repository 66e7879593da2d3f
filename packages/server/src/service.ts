import { availableParallelism } from "node:os";
import { LetheError } from "@lethe/core/error";
import { noisedInvalidCount } from "@lethe/core/privacy";
import { randomnessFrom } from "@lethe/core/randomness";
import type { Logger } from "pino";
import { shortened } from "./development.ts";
import { createApi, type EnrolmentRequest } from "./http/api.ts";
import { createMetrics } from "./http/metrics.ts";
import { describeApi } from "./http/openapi.ts";
import { createHttp, isToken } from "./http/server.ts";
import { createTurns } from "./in-turn.ts";
import { createEnrolment } from "./intake/enrol.ts";
import { networkOf } from "./intake/network.ts";
import { createRateLimit, type Rate } from "./intake/rate-limit.ts";
import { createRefusalCounter } from "./intake/refusals.ts";
import { createUpload } from "./intake/upload.ts";
import { openDataFolder } from "./storage/data-folder.ts";
import type { Database } from "./storage/database.ts";
import { createTaskRegistry, type TaskRegistry } from "./storage/tasks.ts";
import { closeWindow, unfinishedWindows } from "./storage/windows.ts";
import { createTask } from "./tally/create-task.ts";
import { openKeyFile } from "./tally/key-file.ts";
import { startTally } from "./tally/tally.ts";
import { startThreads } from "./tally/threads.ts";
import { openWindows, secretOf } from "./tally/windows.ts";
import { phaseOf } from "./window-time.ts";

export interface ServiceOptions {
  /** The folder of the embedded database. */
  readonly data: string;
  /** All secrets; outside of the data folder, so that a backup of that holds none. */
  readonly keyFile: string;
  readonly adminToken: string;
  readonly host: string;
  /** 0 takes any that is free. */
  readonly port: number;
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
  /** Every task gets windows of seconds. */
  readonly development?: boolean;
  /** Milliseconds since 1970. */
  readonly clock?: () => number;
}

export interface EnrolmentRules {
  /** For each address. */
  readonly rate: Rate;
  readonly mostPerAddress: number;
  /** If given, only who brings one of these enrols devices. */
  readonly tokens: readonly string[];
  /** The operator's own check of what a device brings along, say a platform's attestation. */
  readonly attest: (request: {
    readonly task: string;
    readonly window: number;
    readonly attestation: unknown;
  }) => boolean | Promise<boolean>;
}

export interface Service {
  /** Where it listens. */
  readonly url: string;
  /** What devices pin. */
  readonly operatorKey: string;
  /** Takes no more requests, finishes those under way, and leaves everything on disk. */
  close(): Promise<void>;
}

/** What only tests change. */
export interface ServiceInternals {
  readonly invalidNoise: () => number;
  /** How often the tally looks around by itself. */
  readonly pollMilliseconds?: number;
}

const random = randomnessFrom(globalThis.crypto);
const INTERNALS: ServiceInternals = { invalidNoise: () => noisedInvalidCount(0, random) };

const DEFAULT_RULES = { rate: { perSecond: 100, burst: 1000 }, mostPerAddress: 10_000 } as const;
const KEYS_AHEAD = 500;
const POLL_MILLISECONDS = 1000;
const DEVELOPMENT_POLL_MILLISECONDS = 200;
const CLOSING_MILLISECONDS = 5000;
const VERSION = "0.1.0";

/** Starts intake, tally and release in one process, on an embedded database. */
export async function startService(options: ServiceOptions, internals: ServiceInternals = INTERNALS): Promise<Service> {
  const { log, clock = Date.now, development = false } = options;
  requireToken("the admin token", options.adminToken);
  for (const token of options.enrolment?.tokens ?? []) requireToken("an enrolment token", token);
  const now = (): number => clock() / 1000;
  const rules = { ...DEFAULT_RULES, ...options.enrolment };
  const database = await openDataFolder(options.data);
  const keyFile = await orClose(database, () => openKeyFile(options.keyFile));
  const threads = startThreads(options.threads ?? Math.max(1, availableParallelism() - 1));
  const tasks = createTaskRegistry(database);
  try {
    await tasks.refresh();
    requireOwnTasks(tasks, keyFile.operatorKey, options.keyFile);
    for (const window of await unfinishedWindows(database)) {
      if (window.state === "collecting" || window.state === "closed") secretOf(keyFile, window);
    }
  } catch (error) {
    await threads.close();
    keyFile.close();
    await database.close();
    throw error;
  }

  const metrics = createMetrics();
  const refusals = createRefusalCounter(database);
  const { upload, isBusy } = createUpload(database);
  const tally = startTally({
    database,
    tasks,
    keyFile,
    threads,
    log,
    now,
    keysAhead: options.keysAhead ?? KEYS_AHEAD,
    pollMilliseconds: internals.pollMilliseconds ?? (development ? DEVELOPMENT_POLL_MILLISECONDS : POLL_MILLISECONDS),
    invalidNoise: internals.invalidNoise,
    isIntakeBusy: isBusy,
    beforeClose: refusals.flush,
    onCounted: metrics.counted,
    onReleased: metrics.finished,
  });
  const flushing = setInterval(() => void refusals.flush().catch(() => undefined), POLL_MILLISECONDS);

  let publicUrl = options.url ?? "";
  const inTurn = createTurns();
  const limit = createRateLimit(rules.rate, now);
  const routes = createApi({
    database,
    tasks,
    metrics,
    now,
    enrol: createEnrolment(database, { mostPerAddress: rules.mostPerAddress, onTaken: tally.wake }),
    admit: (request) => admit(rules, limit, request),
    upload,
    createTask: async (task) => {
      const made = development ? shortened(task) : task;
      const created = await inTurn(() => createTask({ database, tasks, keyFile, url: publicUrl, now: now() }, made));
      await openWindows(database, tasks, keyFile, now(), internals.invalidNoise);
      tally.wake();
      return created;
    },
    close: async (window) => {
      await refusals.flush();
      if (await closeWindow(database, window.id))
        log.info({ task: window.name, window: window.number }, "closed by hand");
      tally.wake();
    },
  });
  const app = createHttp({
    routes,
    adminToken: options.adminToken,
    trustProxy: options.trustProxy ?? false,
    log,
    metrics,
    onRefused: (route, parameters, code) => {
      const { task, window } = parameters as { task?: string; window?: number };
      // What devices ask of a window: to be enrolled, to report.
      if (route.method === "GET" || route.admin || task === undefined || window === undefined) return;
      const version = tasks.inWindow(task, window);
      if (!version || ["later", "over"].includes(phaseOf(version.manifest, window, now()))) return;
      refusals.count(task, window, code);
    },
  });
  const description = JSON.stringify(describeApi(routes, VERSION));
  app.get("/openapi.json", (_request, reply) => reply.type("application/json").send(description));
  app.get("/healthz", (_request, reply) => reply.type("text/plain").send("ok\n"));
  app.get("/readyz", async (_request, reply) => {
    const ready = tally.lastError() === undefined && (await answers(database.query("SELECT 1")));
    return reply
      .code(ready ? 200 : 503)
      .type("text/plain")
      .send(ready ? "ready\n" : "not ready\n");
  });
  app.get("/metrics", async (_request, reply) => reply.type("text/plain; version=0.0.4").send(await metrics.text()));

  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= shutDown();
    return closing;
  };
  const shutDown = async (): Promise<void> => {
    // Requests under way are answered; connections that send nothing are not waited for.
    const impatient = setTimeout(() => app.server.closeAllConnections(), CLOSING_MILLISECONDS);
    await app.close();
    clearTimeout(impatient);
    clearInterval(flushing);
    await tally.stop();
    await refusals.flush();
    await threads.close();
    keyFile.close();
    await database.close();
  };
  try {
    const address = await app.listen({ host: options.host, port: options.port });
    publicUrl ||= address;
    return { url: address, operatorKey: keyFile.operatorKey, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** As a header can carry it, and too long to guess. */
function requireToken(what: string, token: string): void {
  if (!/^[\x21-\x7e]{16,500}$/.test(token)) {
    throw new RangeError(`${what} is 16 to 500 characters of printable ASCII without spaces`);
  }
}

async function admit(
  { tokens, attest }: Partial<EnrolmentRules>,
  limit: (address: string) => void,
  { task, window, address, bearer, attestation }: EnrolmentRequest,
): Promise<void> {
  limit(networkOf(address));
  // All are compared, so that the time does not tell which.
  if (tokens && !tokens.map((token) => isToken(bearer, token)).includes(true)) {
    throw new LetheError("unauthorized", "devices enrol here with a token of the operator, as Authorization: Bearer");
  }
  if (attest && !(await answersYes(() => attest({ task, window, attestation })))) {
    throw new LetheError("unauthorized", "the operator's check did not admit this device");
  }
}

/** A check that fails admits nobody. */
async function answersYes(question: () => boolean | Promise<boolean>): Promise<boolean> {
  try {
    return (await question()) === true;
  } catch {
    return false;
  }
}

function requireOwnTasks(tasks: TaskRegistry, operatorKey: string, path: string): void {
  for (const name of tasks.names()) {
    const foreign = tasks
      .versions(name)
      .some(({ manifest }) => manifest.servers.every(({ key }) => key !== operatorKey));
    if (foreign) {
      throw new LetheError(
        "bad-key-file",
        `the key file ${path} is not the one that task ${name} was signed with: restore it, or use another data folder`,
      );
    }
  }
}

async function orClose<T>(database: Database, make: () => T): Promise<T> {
  try {
    return make();
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function answers(question: Promise<unknown>): Promise<boolean> {
  try {
    await question;
    return true;
  } catch {
    return false;
  }
}
