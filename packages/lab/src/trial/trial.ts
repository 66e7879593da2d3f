/**
 * `lethe try`: a service for one person, and a page with one button, to see one's own event in a release. `trial.ts`
 * runs both, `page.ts` has the files of the page. Imports core, the service and the analyst's client.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTask, fetchReleases } from "@lethe/analyst";
import type { Release, Task } from "@lethe/core/message";
import { openService, type Service } from "@lethe/server";
import { pino } from "pino";
import { trialFiles } from "./page.ts";

/** A running service and its page. */
export interface Trial {
  /** The address of the page. */
  readonly page: string;
  /** The address of the service. */
  readonly server: string;
  readonly operatorKey: string;
  readonly task: string;
  /** What the one device pays per window. */
  readonly localEpsilon: number;
  readonly windowSeconds: number;
  /** Stops the service and the page, and removes everything that they stored. */
  close(): Promise<void>;
}

/** How a trial runs. */
export interface TrialOptions {
  /** The port of the page; 0 takes any free port. */
  readonly port: number;
  /** The SDK for pages, which the page loads from the service. */
  readonly sdk: Uint8Array;
  /** Called before the service starts, when the port is known to be free. */
  readonly onPreparing?: () => void;
  /** Called once for each released window. */
  readonly onRelease: (release: Release) => void;
}

const HOST = "127.0.0.1";
const LOCAL_EPSILON = 10;
const METRIC = "button.clicked";
const TASK: Task = {
  version: 1,
  task: "try",
  tickSeconds: 1,
  ticks: 5,
  graceSeconds: 5,
  mode: "one-server",
  scheme: "lattice",
  minimumDevices: 1,
  metrics: [{ name: METRIC, statistic: "occurrence", localEpsilon: LOCAL_EPSILON }],
};
const WINDOW_SECONDS = TASK.ticks * TASK.tickSeconds;
const POLL_MS = 300;
const MOST_RELEASES = 10;

/** Takes the port first, then starts the service. Rejects with the system's error if the port is not available. */
export async function openTrial({ port, sdk, onPreparing, onRelease }: TrialOptions): Promise<Trial> {
  const files = new Map<string, PageFile>();
  const pages = createServer(({ url = "/" }, response) => {
    const file = files.get(url);
    response.writeHead(file ? 200 : 404, { "cache-control": "no-store", ...file?.headers }).end(file?.body());
  });
  await listen(pages, port);
  const folder = mkdtempSync(join(tmpdir(), "lethe-try-"));
  const releases: Release[] = [];
  let service: Service | undefined;
  let watching: NodeJS.Timeout | undefined;
  const close = async (): Promise<void> => {
    clearInterval(watching);
    pages.close();
    pages.closeAllConnections();
    await service?.close();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    onPreparing?.();
    const adminToken = crypto.randomUUID();
    service = await openService({
      data: join(folder, "data"),
      keyFile: join(folder, "keys"),
      adminToken,
      host: HOST,
      port: 0,
      log: pino({ level: "silent" }),
      development: true,
      keysAhead: 10,
      sdk,
    });
    const { url: server, operatorKey = "" } = service;
    await createTask(server, adminToken, TASK);
    const options = { server, task: TASK.task, operatorKey, metric: METRIC, windowSeconds: WINDOW_SECONDS };
    for (const [path, file] of trialFiles(options, () => releases)) files.set(path, file);
    watching = watchReleases(server, (release) => {
      releases.push(release);
      onRelease(release);
    });
    const page = `http://${HOST}:${(pages.address() as AddressInfo).port}/`;
    const shown = { operatorKey, task: TASK.task, localEpsilon: LOCAL_EPSILON, windowSeconds: WINDOW_SECONDS };
    return { page, server, ...shown, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A file that the page's own server sends. */
export interface PageFile {
  readonly headers: Readonly<Record<string, string>>;
  body(): string;
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject).listen(port, HOST, resolve);
  });
}

/**
 * Reports each release once, oldest first. The page asks its own server for them: the service answers no page of
 * another origin.
 */
function watchReleases(server: string, onRelease: (release: Release) => void): NodeJS.Timeout {
  let last = -1;
  let isAsking = false;
  return setInterval(async () => {
    if (isAsking) return;
    isAsking = true;
    try {
      const releases = await fetchReleases(server, TASK.task, { limit: MOST_RELEASES });
      for (const release of releases.toReversed()) {
        if (release.window <= last) continue;
        last = release.window;
        if (release.status === "released") onRelease(release);
      }
    } catch {
      // The service is ending, or busy: the next request will show.
    } finally {
      isAsking = false;
    }
  }, POLL_MS);
}
