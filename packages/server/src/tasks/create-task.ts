/**
 * Creating tasks: signing and storing them (this file), on behalf of a process without keys (`forward-task.ts`), with
 * or without a helper (`task-servers.ts`), and shortened for development (`development.ts`). This folder may import
 * `storage`. Start reading here.
 */

import { sign } from "node:crypto";
import { LetheError } from "@lethe/core/error";
import {
  encodeManifest,
  type Manifest,
  parseManifest,
  resolved,
  type Task,
  windowAt,
  windowSeconds,
} from "@lethe/core/message";
import { type Database, type Queryable, Unavailable } from "../storage/database.ts";
import { lockKeyFile } from "../storage/locks.ts";
import { addTask, reportLayoutOf, type TaskRegistry, type TaskVersion, taskOf } from "../storage/tasks.ts";
import { nextUnusedWindow } from "../storage/windows.ts";
import type { KeyFile } from "../tally/key-file.ts";
import { requireMode, type TaskServers } from "./task-servers.ts";

/** A new version waits until no keys are out for its first window. */
const WINDOWS_AHEAD = 2;
/** Longer ones would fill the memory when many come at once. */
const MOST_REPORT_BYTES = 1_000_000;

/** What a process needs to create a task. */
export interface CreateTaskParts {
  readonly database: Database;
  readonly tasks: TaskRegistry;
  readonly keyFile: KeyFile;
  /** Where devices reach this service. */
  readonly url: string;
  readonly now: number;
  readonly servers: TaskServers;
}

/** A task as it is stored, and whether this request made it. */
export interface CreatedTask {
  readonly version: TaskVersion;
  readonly isNew: boolean;
}

/**
 * Signs a task and stores it, for good: a stored task never changes. A higher version takes over from a window that no
 * device has enrolled for. The same task again is found, not created twice.
 */
export async function createTask(parts: CreateTaskParts, task: Task): Promise<CreatedTask> {
  const { database, tasks, keyFile, url, now, servers } = parts;
  requireMode(task, servers.mode, servers.wrongMode);
  await tasks.refresh();
  const versions = tasks.versions(task.task);
  const same = versions.find(({ manifest }) => manifest.version === task.version);
  if (same) return proposeAgain(servers, task, same);
  const last = versions.at(-1)?.manifest;
  if (last) requireSuccessor(last, task);
  const named = servers.named(url, keyFile.operatorKey);
  const manifestFrom = (fromWindow: number): string =>
    encodeManifest({ ...resolved(task), fromWindow, servers: named });
  requireShort(reportLayoutOf(parseManifest(manifestFrom(0))).reportBytes);
  const firstWindow = async (queryable: Queryable): Promise<number> => {
    const unused = await nextUnusedWindow(queryable, task.task);
    const earliest = windowAt(task, now) + (last ? WINDOWS_AHEAD : 0);
    return Math.max(earliest, unused, last ? last.fromWindow + 1 : 0);
  };
  const fromWindow = await firstWindow(database);
  const manifest = manifestFrom(fromWindow);
  const signature = sign(null, Buffer.from(manifest), keyFile.signingKey);
  // A helper must have the task before a device can, and may take its time: nothing is locked meanwhile.
  await servers.propose(task, { manifest, signature });
  const isAdded = await database.transaction(async (transaction) => {
    // Nobody makes a window meanwhile: whatever the clock says, no window for which devices may have keys gets the new
    // version.
    await lockKeyFile(transaction);
    if ((await firstWindow(transaction)) !== fromWindow) return false;
    return addTask(transaction, { name: task.task, version: task.version, fromWindow, manifest, signature });
  });
  // Another process was quicker: look at what it made. A helper takes another manifest as long as nothing was done
  // under this one.
  if (!isAdded) return createTask(parts, task);
  await tasks.refresh();
  const version = tasks.versions(task.task).find(({ manifest }) => manifest.version === task.version);
  return { version: version as TaskVersion, isNew: true };
}

/** A version that is stored already: a helper that was restored from a backup may have lost it. */
async function proposeAgain(servers: TaskServers, task: Task, same: TaskVersion): Promise<CreatedTask> {
  if (JSON.stringify(resolved(taskOf(same.manifest))) !== JSON.stringify(resolved(task))) {
    throw new LetheError(
      "bad-task",
      `version ${task.version} of ${task.task} is there already and says something else: raise it`,
    );
  }
  await servers.propose(task, same.signed).catch(unlessUnavailable);
  return { version: same, isNew: false };
}

function unlessUnavailable(error: unknown): void {
  if (!(error instanceof Unavailable)) throw error;
}

function requireShort(reportBytes: number): void {
  if (reportBytes > MOST_REPORT_BYTES) {
    throw new LetheError(
      "bad-task",
      `metrics make reports of ${reportBytes} bytes, and more than ${MOST_REPORT_BYTES} are not taken: use fewer`,
    );
  }
}

function requireSuccessor(last: Manifest, task: Task): void {
  if (task.version < last.version) {
    throw new LetheError("bad-task", `version of ${task.task} is above ${last.version} by now, not ${task.version}`);
  }
  if (windowSeconds(task) !== windowSeconds(last)) {
    throw new LetheError(
      "bad-task",
      `ticks and tickSeconds make windows of ${windowSeconds(last)} seconds in every version of ${task.task}, not of ` +
        `${windowSeconds(task)}: give the task a new name`,
    );
  }
}
