import { sign } from "node:crypto";
import { LetheError } from "@lethe/core/error";
import {
  encodeManifest,
  type Manifest,
  parseManifest,
  resolved,
  type SignedManifest,
  type Task,
  windowAt,
  windowSeconds,
} from "@lethe/core/message";
import type { Helper } from "../peer/client.ts";
import { type Database, type Queryable, Unavailable } from "../storage/database.ts";
import { lockKeyFile } from "../storage/locks.ts";
import { addTask, layoutsOf, type TaskRegistry, type TaskVersion, taskOf } from "../storage/tasks.ts";
import { nextUnusedWindow } from "../storage/windows.ts";
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
  /** Of a leader. */
  readonly helper?: Helper & { readonly url: string; readonly operatorKey: string };
}

/**
 * Signs a task and stores it, for ever: a task that is there is never changed. A higher version takes over from a
 * window that no device has enrolled for.
 */
export async function createTask(
  parts: CreateTaskParts,
  task: Task,
): Promise<{ readonly version: TaskVersion; readonly isNew: boolean }> {
  const { database, tasks, keyFile, url, now, helper } = parts;
  requireServers(task, helper !== undefined);
  await tasks.refresh();
  const versions = tasks.versions(task.task);
  const same = versions.find(({ manifest }) => manifest.version === task.version);
  if (same) {
    if (JSON.stringify(resolved(taskOf(same.manifest))) === JSON.stringify(resolved(task))) {
      // A helper that was restored from a backup may have lost it.
      if (helper) await propose(helper, task, same.signed).catch(unlessUnavailable);
      return { version: same, isNew: false };
    }
    throw new LetheError(
      "bad-task",
      `version ${task.version} of ${task.task} is there already and says something else: raise it`,
    );
  }
  const last = versions.at(-1)?.manifest;
  if (last) requireSuccessor(last, task);
  const servers = helper
    ? ([
        { role: "leader", url, key: keyFile.operatorKey },
        { role: "helper", url: helper.url, key: helper.operatorKey },
      ] as const)
    : ([{ role: "tally", url, key: keyFile.operatorKey }] as const);
  const manifestFrom = (fromWindow: number): string => encodeManifest({ ...resolved(task), fromWindow, servers });
  requireShort(layoutsOf(parseManifest(manifestFrom(0))).reportBytes);
  const firstWindow = async (queryable: Queryable): Promise<number> => {
    const unused = await nextUnusedWindow(queryable, task.task);
    const earliest = windowAt(task, now) + (last ? WINDOWS_AHEAD : 0);
    return Math.max(earliest, unused, last ? last.fromWindow + 1 : 0);
  };
  const fromWindow = await firstWindow(database);
  const manifest = manifestFrom(fromWindow);
  const signature = sign(null, Buffer.from(manifest), keyFile.signingKey);
  // The helper must have it before a device can, and may take its time: nothing is locked meanwhile.
  if (helper) await propose(helper, task, { manifest, signature });
  const isAdded = await database.transaction(async (transaction) => {
    // No tally makes a window meanwhile: whatever the clock says, none of which devices may have keys is the new version's.
    await lockKeyFile(transaction);
    if ((await firstWindow(transaction)) !== fromWindow) return false;
    return addTask(transaction, { name: task.task, version: task.version, fromWindow, manifest, signature });
  });
  // Another process was quicker: look at what it made. The helper takes another manifest while nothing was done under this one.
  if (!isAdded) return createTask(parts, task);
  await tasks.refresh();
  const version = tasks.versions(task.task).find(({ manifest }) => manifest.version === task.version);
  return { version: version as TaskVersion, isNew: true };
}

/** What the helper refuses is not made here either. */
async function propose(helper: Helper, { task, version }: Task, signed: SignedManifest): Promise<void> {
  try {
    await helper.propose(signed, task, version);
  } catch (error) {
    if (!(error instanceof LetheError)) throw error;
    throw new LetheError("bad-task", `the helper refuses it (${error.code}): ${error.message}`, { cause: error });
  }
}

function unlessUnavailable(error: unknown): void {
  if (!(error instanceof Unavailable)) throw error;
}

function requireServers({ mode }: Task, isLeader: boolean): void {
  if ((mode === "two-server") === isLeader) return;
  throw new LetheError(
    "bad-task",
    isLeader
      ? "mode is two-server for a leader: start another service for tasks of one server"
      : "mode is one-server for this service: a task of two servers needs one with --role leader, and a helper",
  );
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
