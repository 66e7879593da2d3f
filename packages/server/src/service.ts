import { availableParallelism } from "node:os";
import { LetheError } from "@lethe/core/error";
import { noisedInvalidCount } from "@lethe/core/privacy";
import { randomnessFrom } from "@lethe/core/randomness";
import type { Logger } from "pino";
import { shortened } from "./development.ts";
import { createApi } from "./http/api.ts";
import { createMetrics } from "./http/metrics.ts";
import { describeApi } from "./http/openapi.ts";
import { addOperations } from "./http/operations.ts";
import { createHttp } from "./http/server.ts";
import { createTurns } from "./in-turn.ts";
import { createAdmission, DEFAULT_RULES, type EnrolmentRules } from "./intake/admission.ts";
import { createEnrolment } from "./intake/enrol.ts";
import { createRefusalCounter } from "./intake/refusals.ts";
import { requireToken } from "./intake/token.ts";
import { createUpload } from "./intake/upload.ts";
import { giveUpWindow } from "./release/finish.ts";
import { openDataFolder } from "./storage/data-folder.ts";
import type { Database } from "./storage/database.ts";
import { createTaskRegistry, type TaskRegistry } from "./storage/tasks.ts";
import { closeWindow, unfinishedWindows } from "./storage/windows.ts";
import { createTask } from "./tally/create-task.ts";
import { type KeyFile, openKeyFile } from "./tally/key-file.ts";
import { startTally } from "./tally/tally.ts";
import { startThreads } from "./tally/threads.ts";
import { findSecret, openWindows, secretOf } from "./tally/windows.ts";
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
  /** Give up windows whose secret is not in the key file, for ever, instead of refusing to start. */
  readonly abandonLostWindows?: boolean;
  /** Every task gets windows of seconds. */
  readonly development?: boolean;
  /** Milliseconds since 1970. */
  readonly clock?: () => number;
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

const KEYS_AHEAD = 500;
const POLL_MILLISECONDS = 1000;
const DEVELOPMENT_POLL_MILLISECONDS = 200;
const IDLE_MILLISECONDS = 50;
const CLOSING_MILLISECONDS = 5000;
const VERSION = "0.1.0";

/** Starts intake, tally and release in one process, on an embedded database. */
export async function startService(options: ServiceOptions, internals: ServiceInternals = INTERNALS): Promise<Service> {
  const { log, clock = Date.now, development = false } = options;
  requireToken("the admin token", options.adminToken);
  for (const token of options.enrolment?.tokens ?? []) requireToken("an enrolment token", token);
  const now = (): number => clock() / 1000;
  const opened = await openDisk(options, now());
  const { database, keyFile, tasks } = opened;
  const threads = startThreads(options.threads ?? Math.max(1, availableParallelism() - 1));
  const metrics = createMetrics();
  const refusals = createRefusalCounter(database, (name, number) => {
    const task = tasks.inWindow(name, number);
    return task !== undefined && !["later", "over"].includes(phaseOf(task.manifest, number, now()));
  });
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
  const rules = { ...DEFAULT_RULES, ...options.enrolment };
  const routes = createApi({
    database,
    tasks,
    metrics,
    now,
    enrol: createEnrolment(database, { mostPerAddress: rules.mostPerAddress, onTaken: tally.wake }),
    admit: createAdmission(rules, now),
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
      const closed = await closeWindow(database, window.id);
      if (closed) log.info({ task: window.name, window: window.number }, "closed by hand");
      tally.wake();
    },
  });
  const { adminToken, trustProxy = false } = options;
  const app = createHttp({ routes, adminToken, trustProxy, log, metrics, onRefused: refusals.count });
  addOperations(app, {
    description: describeApi(routes, VERSION),
    metrics,
    isReady: async () => tally.lastError() === undefined && (await database.query("SELECT 1")).length > 0,
  });

  const shutDown = async (): Promise<void> => {
    // Requests under way are answered; connections that send nothing are not waited for.
    const idle = setInterval(() => app.server.closeIdleConnections(), IDLE_MILLISECONDS);
    const impatient = setTimeout(() => app.server.closeAllConnections(), CLOSING_MILLISECONDS);
    await app.close();
    clearInterval(idle);
    clearTimeout(impatient);
    clearInterval(flushing);
    await tally.stop();
    await refusals.flush();
    await threads.close();
    await opened.close();
  };
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= shutDown();
    return closing;
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

/** Data folder and key file, which must belong together. */
interface Disk {
  readonly database: Database;
  readonly keyFile: KeyFile;
  readonly tasks: TaskRegistry;
  close(): Promise<void>;
}

async function openDisk({ data, keyFile: path, abandonLostWindows }: ServiceOptions, now: number): Promise<Disk> {
  const database = await openDataFolder(data);
  let keyFile: KeyFile | undefined;
  const close = async (): Promise<void> => {
    keyFile?.close();
    await database.close();
  };
  try {
    keyFile = openKeyFile(path);
    const tasks = createTaskRegistry(database);
    await tasks.refresh();
    requireOwnTasks(tasks, keyFile.operatorKey, path);
    for (const window of await unfinishedWindows(database)) {
      if (window.state !== "collecting" && window.state !== "closed") continue;
      const task = tasks.byId(window.taskId);
      const isLost = findSecret(keyFile, window) === undefined;
      if (task && isLost && abandonLostWindows) await giveUpWindow(database, task, window, Math.floor(now));
      else secretOf(keyFile, window);
    }
    return { database, keyFile, tasks, close };
  } catch (error) {
    await close();
    throw error;
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
