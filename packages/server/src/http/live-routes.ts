import {
  type Operations,
  type OperationsBacklog,
  type ServiceRole,
  type TaskOperations,
  type WindowStatus,
  windowAt,
  windowSeconds,
} from "@lethe/core/message";
import { z } from "zod";
import { remember } from "../async/remember.ts";
import { within } from "../async/within.ts";
import type { HelperHealth } from "../leader/health.ts";
import { type Backlog, measureBacklog } from "../storage/backlog.ts";
import { withAnsweringParts } from "../storage/databases.ts";
import type { TaskVersion } from "../storage/tasks.ts";
import { isUnreleased, type WatchedWindow, watchNewest, watchUnfinished } from "../storage/windows.ts";
import type { ApiParts } from "./api.ts";
import { json, type Route, route } from "./route.ts";
import * as schemas from "./schemas.ts";
import { statusOf } from "./window-lookup.ts";

/** What a live view of a process needs. */
export interface LiveParts extends ApiParts {
  readonly version: string;
  readonly role: ServiceRole;
  readonly whyNotReady: () => Promise<string | undefined>;
  /** At a leader. */
  readonly helperHealth?: (() => Promise<HelperHealth>) | undefined;
}

/** The windows of a task that are listed whatever their state: the next, the running, and the last finished ones. */
const NEWEST = 10;
/** Of those that should be finished and are not: the newest. */
const MOST_UNFINISHED = 30;
/** Many viewers cost the database little. */
const AGE_MS = 1000;
const DATABASE_MS = 5000;

/** The endpoint for a live view: one document, from two statements and one more for each task. */
export function liveRoute(parts: LiveParts): Route<unknown> {
  const current = remember(AGE_MS, () => describe(parts));
  return route({
    method: "GET",
    path: "/v1/operations",
    summary: "Everything that a live view of the service shows",
    admin: true,
    parameters: z.strictObject({}),
    answers: { 200: { description: "the service, at most 1 s ago", schema: schemas.operations } },
    refusals: ["unauthorized", "bad-encoding", "rate-limited"],
    handle: async () => json(200, await current()),
  });
}

async function describe(parts: LiveParts): Promise<Operations> {
  const { database, databases, tasks, clock, role, version, whyNotReady, helperHealth } = parts;
  const now = clock.guess();
  const [reason, backlog, helper, described] = await Promise.all([
    whyNotReady(),
    within(DATABASE_MS, measureBacklog(databases, tasks, now)).catch(() => undefined),
    helperHealth?.(),
    describeTasks(parts, now),
  ]);
  return {
    now,
    role,
    version,
    ready: reason ?? true,
    clockInDoubt: clock.doubt() !== undefined,
    ...(backlog && { backlog: readable(backlog, role) }),
    ...(database.guard && { disk: database.guard.room() }),
    ...(helper && { helper }),
    tasks: described,
  };
}

/** JSON has no infinity. A helper's keys are in the pool of its leader. */
function readable({ reports, keys, windows }: Backlog, role: ServiceRole): OperationsBacklog {
  return { reports, ...(Number.isFinite(keys) && role !== "helper" && { keys }), windows };
}

async function describeTasks({ database, databases, tasks }: LiveParts, now: number): Promise<TaskOperations[]> {
  // A database that does not answer must not hide what the others show.
  const added = (rows: readonly WatchedWindow[]): Promise<WatchedWindow[]> =>
    Promise.all(rows.map((row) => withAnsweringParts(databases, row)));
  const unfinished = await added((await watchUnfinished(database)).filter(isUnreleased));
  return Promise.all(
    tasks.names().map(async (name) => {
      const [first] = tasks.versions(name) as [TaskVersion];
      const running = Math.max(windowAt(first.manifest, now), first.manifest.fromWindow);
      const inForce = tasks.inWindow(name, running) ?? first;
      const rows = rowsOf(
        await added(await watchNewest(database, name, NEWEST)),
        unfinished.filter((row) => row.name === name),
      );
      const numbers = new Set([...rows.keys(), running, running + 1]);
      const windows = [...numbers]
        .sort((a, b) => b - a)
        .flatMap((number): WindowStatus[] => {
          const task = tasks.inWindow(name, number);
          return task ? [statusOf(task, number, rows.get(number), now)] : [];
        });
      return {
        task: name,
        version: inForce.manifest.version,
        windowSeconds: windowSeconds(inForce.manifest),
        nextRelease: nextRelease(windows, now),
        windows,
      };
    }),
  );
}

function rowsOf(newest: readonly WatchedWindow[], unfinished: readonly WatchedWindow[]): Map<number, WatchedWindow> {
  return new Map([...unfinished.slice(-MOST_UNFINISHED), ...newest].map((row) => [row.number, row]));
}

/** The oldest window that is not finished, and when it closes; one that was closed before its time is released now. */
function nextRelease(windows: readonly WindowStatus[], now: number): TaskOperations["nextRelease"] {
  const waiting = windows.findLast(({ state }) => ["open", "grace", "closed"].includes(state)) ?? windows[0];
  if (!waiting) return null;
  const { window, state, closes } = waiting;
  return { window, at: state === "closed" ? Math.min(closes, now) : closes };
}
