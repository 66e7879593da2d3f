import { sign } from "node:crypto";
import { LetheError } from "@lethe/core/error";
import {
  encodeManifest,
  layoutOf,
  type Manifest,
  parseManifest,
  reportBytes,
  type Task,
  type TaskLayout,
} from "@lethe/core/message";
import type { Database } from "../storage/database.ts";
import { lockKeyFile } from "../storage/locks.ts";
import { addTask, type TaskRegistry, type TaskVersion } from "../storage/tasks.ts";
import { nextUnusedWindow } from "../storage/windows.ts";
import { windowAt, windowSeconds } from "../window-time.ts";
import type { KeyFile } from "./key-file.ts";

/** A new version waits until no keys are out for its first window. */
const WINDOWS_AHEAD = 2;
/** Longer ones would fill the memory when many come at once. */
const MOST_REPORT_BYTES = 1_000_000;

export interface CreateTaskParts {
  readonly database: Database;
  readonly tasks: TaskRegistry;
  readonly keyFile: KeyFile;
  /** Where devices reach this service. */
  readonly url: string;
  readonly now: number;
}

/**
 * Signs a task and stores it, for ever: a task that is there is never changed. A higher version takes over from a
 * window that no device has enrolled for.
 */
export async function createTask(
  parts: CreateTaskParts,
  task: Task,
): Promise<{ readonly version: TaskVersion; readonly isNew: boolean }> {
  const { database, tasks, keyFile, url, now } = parts;
  await tasks.refresh();
  const versions = tasks.versions(task.task);
  const same = versions.find(({ manifest }) => manifest.version === task.version);
  if (same) {
    if (JSON.stringify(taskOf(same.manifest)) === JSON.stringify(task)) return { version: same, isNew: false };
    throw new LetheError(
      "bad-task",
      `version ${task.version} of ${task.task} is there already and says something else: raise it`,
    );
  }
  const last = versions.at(-1)?.manifest;
  if (last) requireSuccessor(last, task);
  const manifestFrom = (fromWindow: number): string =>
    encodeManifest({ ...task, fromWindow, servers: [{ role: "tally", url, key: keyFile.operatorKey }] });
  requireShort(layoutOf(parseManifest(manifestFrom(0))));
  const isAdded = await database.transaction(async (transaction) => {
    // No tally makes a window meanwhile: whatever the clock says, none of which devices may have keys is the new version's.
    await lockKeyFile(transaction);
    const unused = await nextUnusedWindow(transaction, task.task);
    const earliest = windowAt(task, now) + (last ? WINDOWS_AHEAD : 0);
    const fromWindow = Math.max(earliest, unused, last ? last.fromWindow + 1 : 0);
    const manifest = manifestFrom(fromWindow);
    const signature = sign(null, Buffer.from(manifest), keyFile.signingKey);
    return addTask(transaction, { name: task.task, version: task.version, fromWindow, manifest, signature });
  });
  // Another process was quicker: look at what it made.
  if (!isAdded) return createTask(parts, task);
  await tasks.refresh();
  const version = tasks.versions(task.task).find(({ manifest }) => manifest.version === task.version);
  return { version: version as TaskVersion, isNew: true };
}

function requireShort(layout: TaskLayout): void {
  if (reportBytes(layout) > MOST_REPORT_BYTES) {
    throw new LetheError(
      "bad-task",
      `metrics make reports of ${reportBytes(layout)} bytes, and more than ${MOST_REPORT_BYTES} are not taken: use fewer`,
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

function taskOf({ fromWindow, servers, ...task }: Manifest): Task {
  return task;
}
