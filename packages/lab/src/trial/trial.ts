/**
 * `lethe try`: a service for one person, whose console makes the visitor's browser a device, to see one's own event in a
 * release. Imports core, the service and the analyst's client.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTask, fetchReleases } from "@lethe/analyst";
import type { Release, Task } from "@lethe/core/message";
import { openService, type Service, type ServiceOptions } from "@lethe/server";
import { pino } from "pino";

/** A running service, and the page of it that has the button. */
export interface Trial {
  /** The address of the page. */
  readonly page: string;
  /** The address of the service. */
  readonly server: string;
  readonly operatorKey: string;
  readonly adminToken: string;
  readonly task: string;
  /** The event that the button records. */
  readonly event: string;
  /** What the one device pays per window. */
  readonly localEpsilon: number;
  readonly windowSeconds: number;
  /** Stops the service, and removes everything that it stored. */
  close(): Promise<void>;
}

/** How a trial runs: the port of its service, where 0 takes any free port, and the files that the service delivers. */
export interface TrialOptions extends Required<Pick<ServiceOptions, "port" | "console" | "sdk">> {
  /** Called once for each released window. */
  readonly onRelease: (release: Release) => void;
}

const LOCAL_EPSILON = 10;
const EVENT = "button.clicked";
const TASK: Task = {
  version: 1,
  task: "try",
  tickSeconds: 1,
  ticks: 5,
  graceSeconds: 5,
  mode: "one-server",
  scheme: "lattice",
  minimumDevices: 1,
  metrics: [{ name: EVENT, statistic: "occurrence", localEpsilon: LOCAL_EPSILON }],
};
const POLL_MS = 300;
const MOST_RELEASES = 10;

/** Starts the service. Rejects with the system's error if the port is not available. */
export async function openTrial({ onRelease, ...options }: TrialOptions): Promise<Trial> {
  const folder = mkdtempSync(join(tmpdir(), "lethe-try-"));
  const adminToken = crypto.randomUUID();
  let service: Service | undefined;
  let watching: NodeJS.Timeout | undefined;
  const close = async (): Promise<void> => {
    clearInterval(watching);
    await service?.close();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    service = await openService({
      ...options,
      data: join(folder, "data"),
      keyFile: join(folder, "keys"),
      adminToken,
      host: "127.0.0.1",
      log: pino({ level: "silent" }),
      development: true,
      keysAhead: 10,
    });
    const { url: server, operatorKey = "" } = service;
    await createTask(server, adminToken, TASK);
    watching = watchReleases(server, onRelease);
    return {
      page: `${server}/#/device/${TASK.task}`,
      ...{ server, operatorKey, adminToken, task: TASK.task, event: EVENT },
      ...{ localEpsilon: LOCAL_EPSILON, windowSeconds: TASK.ticks * TASK.tickSeconds },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Reports each release once, oldest first. */
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
