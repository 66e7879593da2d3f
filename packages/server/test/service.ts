import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Task } from "@lethe/core/message";
import { openService, type Service, type ServiceOptions } from "@lethe/server";
import { type Logger, pino } from "pino";
import { expect } from "vitest";
import { type ServiceInternals, startService } from "../dist/service.js";
import { unownedFolder } from "./folder.ts";
import { createStore, type Store } from "./store.ts";

export const ADMIN_TOKEN = "the admin's token".replaceAll(" ", "-");

/** Answers are as good as exact (a bit flips with probability 2e-9), reports short and quickly made. */
export const EXACT_TASK: Task = {
  version: 1,
  task: "exact",
  tickSeconds: 60,
  ticks: 2,
  graceSeconds: 60,
  mode: "one-server",
  scheme: "elgamal",
  minimumDevices: 3,
  metrics: [{ name: "happened", statistic: "occurrence", localEpsilon: 20 }],
};

/** Moves only when told; milliseconds since 1970. */
interface FakeClock {
  (): number;
  advance(seconds: number): void;
}

/** At the beginning of a window of every task whose windows divide a day. */
function createFakeClock(): FakeClock {
  let now = Date.UTC(2026, 0, 1);
  return Object.assign(() => now, {
    advance: (seconds: number): void => {
      now += 1000 * seconds;
    },
  });
}

export interface TestService {
  readonly url: string;
  readonly operatorKey: string;
  /** The key file is in it, and an embedded database. */
  readonly folder: string;
  readonly keyFile: string;
  readonly clock: FakeClock;
  /** Its database, while it does not run. */
  readonly openDatabase: Store["open"];
  readonly backup: Store["backup"];
  /** Stops, leaves the files. */
  stop(): Promise<void>;
  /** Stops, if it runs, and starts on the same files. */
  restart(changed?: Partial<ServiceOptions>): Promise<void>;
  /** Stops, if it runs, and removes the files. */
  remove(): Promise<void>;
}

export const SILENT: Logger = pino({ level: "silent" });

/** Starts a service on a new database, with a clock that only the test moves. */
export async function startTestService(
  options: Partial<ServiceOptions> = {},
  internals: ServiceInternals | "as operators start it" = { invalidNoise: () => 0, pollMilliseconds: 100 },
): Promise<TestService> {
  const folder = unownedFolder();
  const keyFile = join(folder, "keys.json");
  const store = await createStore(folder);
  const clock = createFakeClock();
  const start = (settings: ServiceOptions): Promise<Service> =>
    internals === "as operators start it" ? openService(settings) : startService(settings, internals);
  let settings: ServiceOptions = {
    ...store.options,
    keyFile,
    adminToken: ADMIN_TOKEN,
    host: "127.0.0.1",
    port: 0,
    log: SILENT,
    threads: 1,
    keysAhead: 20,
    clock,
    ...options,
  };
  let running: Service | undefined = await start(settings);
  const current = (): Service => {
    if (!running) throw new TypeError("the service does not run");
    return running;
  };
  const stop = async (): Promise<void> => {
    const stopping = running;
    running = undefined;
    await stopping?.close();
  };
  return {
    get url() {
      return current().url;
    },
    get operatorKey() {
      return current().operatorKey as string;
    },
    folder,
    keyFile,
    clock,
    openDatabase: store.open,
    backup: store.backup,
    stop,
    restart: async (changed = {}) => {
      await stop();
      settings = { ...settings, ...changed };
      running = await start(settings);
    },
    remove: async () => {
      await stop();
      await store.remove();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A request with the admin's token. */
export function asAdmin(service: { readonly url: string }, path: string, body?: unknown): Promise<Response> {
  return fetch(service.url + path, {
    method: body === undefined ? "GET" : "POST",
    headers: {
      authorization: `Bearer ${ADMIN_TOKEN}`,
      ...(body !== undefined && { "content-type": "application/json" }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

export async function createTask(service: { readonly url: string }, task: Task): Promise<void> {
  expect((await asAdmin(service, "/v1/tasks", task)).status).toBe(201);
}

/** Closes a window as an admin does, before its time. */
export function closeByHand(service: { readonly url: string }, task: string, window: number): Promise<Response> {
  return fetch(`${service.url}/v1/tasks/${task}/windows/${window}/close`, {
    method: "POST",
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  });
}
