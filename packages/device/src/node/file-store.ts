import { existsSync, lstatSync, mkdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { LetheError } from "@lethe/core/error";
import { type HeldLock, type Lock, removeUnfinished, replaceFile, syncFolder, takeLock } from "@lethe/files";
import type { Store } from "../store/store.ts";
import { endWithdrawal, isWithdrawn, type Ticket, takeTicket, withdraw } from "./withdrawal.ts";

const RETRY_MILLISECONDS = 1_000;
const QUICK_RETRY_MILLISECONDS = 50;
const MOST_WAIT_MILLISECONDS = 30_000;
/**
 * How often the lock must be found held before that is reported: by a process that runs, which may be about to end; and
 * by one that was killed, for 30 s, as a busy machine may take seconds to end it.
 */
const LOOKS = { running: 5, ending: MOST_WAIT_MILLISECONDS / QUICK_RETRY_MILLISECONDS };
/** Far above any record, far below what would exhaust the memory of a program that merely wants to count. */
const LARGEST_RECORD = 64 * 2 ** 20;

/**
 * Keeps the record in a folder that holds nothing else and is created if it is missing: `record`, exactly its bytes,
 * beside `lock`; with a budget, `budget` beside `budget.lock`, which `wipe` leaves. Only the user may read them. One
 * process writes at a time; the others wait, and take over within a second or so of its end. `wipe` ends all of them,
 * within a second or so.
 *
 * All or nothing: a new record is written beside the old one and renamed over it. A record that cannot be read, because
 * the disk fails or this user may not, is never replaced. File systems and disks keep the
 * blocks of the old one for as long as they please, so nothing is gained by overwriting it: versions must be
 * indistinguishable anyway.
 *
 * Everything happens before `save` returns. A program that exits gives no time for more, calls are in order by
 * themselves, and the price, one wait for the disk per tick, is small.
 */
export function fileStore(folder: string, { budget = folder }: FileStoreOptions = {}): Store {
  if (folder === "" || budget === "") throw new TypeError("`folder` must not be empty");
  // Where it is now, even if the program changes its working folder later.
  const files = filesIn(resolve(folder));
  const budgets = { ...filesIn(resolve(budget), "budget"), isUnsure: true };
  let isLocked = false;
  let isUnread = false;
  return {
    reportsHolder: true,
    lock: async (signal, onWithdrawn, onProblem) => {
      const release = await lock(files, signal, onWithdrawn, onProblem);
      isLocked = release !== undefined;
      return (
        release &&
        (async () => {
          isLocked = false;
          await release();
        })
      );
    },
    load: async () => {
      try {
        const record = explained(files, "read", () => load(files));
        isUnread = false;
        return record;
      } catch (error) {
        isUnread = mayBeWhole(error);
        throw error;
      }
    },
    save: async (record, { durable }) => {
      if (isUnread) throw unread(files);
      if (record.length > LARGEST_RECORD)
        throw new RangeError(`a record must have at most ${LARGEST_RECORD} bytes, got ${record.length}`);
      explained(files, "written", () => replaceFile(files.record, record, { durable }));
    },
    wipe: async () => (isLocked ? explained(files, "wiped", () => removeRecord(files)) : wipeAfterOthers(files)),
    budget: (change, signal) => updateBudget(budgets, change, signal),
    close: async () => {},
  };
}

/** Whether there may be a good record that was not read. */
function mayBeWhole(error: unknown): boolean {
  const { code } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException;
  return code !== undefined && code !== "ENOENT" && code !== "ENOTDIR";
}

function unread({ record }: Files): LetheError {
  const advice = "start again when it can be read, or remove it";
  return new LetheError("bad-store", `${record} could not be read, so it is not replaced: ${advice}`);
}

/** How a store in files is set up. */
export interface FileStoreOptions {
  /** The folder that has the budget. Tasks whose stores name the same one share it; the default is the store's own. */
  readonly budget?: string;
}

interface Files {
  readonly folder: string;
  readonly record: string;
  readonly lock: string;
}

function filesIn(folder: string, name?: string): Files {
  const path = (what: string): string => join(folder, what);
  return name === undefined
    ? { folder, record: path("record"), lock: path("lock") }
    : { folder, record: path(name), lock: path(`${name}.lock`) };
}

/** With whether the disk may lack what was written last: after a failure, and at the start, as after a kill. */
interface UnsureFiles extends Files {
  isUnsure: boolean;
}

/** Reads, changes and replaces it between two turns of this program. Waits for 30 s for other processes. */
async function updateBudget(
  files: UnsureFiles,
  change: (stored: Uint8Array | undefined) => Uint8Array | undefined,
  signal: AbortSignal,
): Promise<void> {
  for (let left = MOST_WAIT_MILLISECONDS; left > 0 && !signal.aborted; left -= QUICK_RETRY_MILLISECONDS) {
    const taken = explained(files, "locked", () => tryLock(files));
    if ("release" in taken) {
      try {
        const stored = explained(files, "read", () => load(files));
        const next = change(stored) ?? (files.isUnsure ? stored : undefined);
        if (next) {
          files.isUnsure = true;
          explained(files, "written", () => replaceFile(files.record, next, { durable: true }));
          files.isUnsure = false;
        }
      } finally {
        explained(files, "unlocked", taken.release);
      }
      return;
    }
    await sleep(QUICK_RETRY_MILLISECONDS, undefined, { signal }).catch(() => undefined);
  }
  throw new LetheError("bad-store", `${files.lock} is held: end the process that holds it`);
}

type OnWithdrawn = Parameters<Store["lock"]>[1];
type OnProblem = Parameters<Store["lock"]>[2];

/** Also undefined if consent is withdrawn while this waits. Reports once which process it waits for. */
async function lock(
  files: Files,
  signal: AbortSignal,
  onWithdrawn: OnWithdrawn,
  onProblem: OnProblem,
): Promise<(() => Promise<void>) | undefined> {
  let ticket: Ticket | undefined;
  let isReported = false;
  try {
    for (let looks = 1; !signal.aborted; looks++) {
      const taken = explained(files, "locked", () => tryLock(files));
      if (ticket?.isValid() === false) {
        if ("release" in taken) taken.release();
        void onWithdrawn?.();
        return undefined;
      }
      if ("release" in taken) return hold(files, taken.release, onWithdrawn);
      ticket ??= explained(files, "locked", () => takeTicket(files.folder));
      if (!isReported && looks >= (taken.isEnding ? LOOKS.ending : LOOKS.running)) {
        isReported = true;
        onProblem?.(heldBy(taken.heldBy, files));
      }
      // Without a reference: a program that has nothing left but to wait for another may end.
      const wait = isReported ? RETRY_MILLISECONDS : QUICK_RETRY_MILLISECONDS;
      await sleep(wait, undefined, { ref: false, signal }).catch(() => undefined);
    }
    return undefined;
  } finally {
    ticket?.remove();
  }
}

function heldBy(owner: string, { folder }: Files): LetheError {
  return new LetheError("bad-store", `${owner} writes to ${folder}: events are dropped here until it ends`);
}

/** Looks for a withdrawal until the lock is released. Completes an earlier withdrawal whose process was killed. */
function hold(files: Files, release: () => void, onWithdrawn: OnWithdrawn): () => Promise<void> {
  const { folder } = files;
  try {
    if (isWithdrawn(folder)) explained(files, "wiped", () => removeRecord(files));
  } catch (error) {
    release();
    throw error;
  }
  const looking = setInterval(() => {
    if (!isWithdrawn(folder)) return;
    clearInterval(looking);
    void onWithdrawn?.();
  }, RETRY_MILLISECONDS).unref();
  return async () => {
    clearInterval(looking);
    explained(files, "unlocked", release);
  };
}

/**
 * Removes the record at once. Then waits for the process that writes, which sees that consent is withdrawn and ends,
 * and removes what that process wrote meanwhile. Throws if the process has not ended after 30 s: it is stopped, or runs
 * an earlier version.
 */
async function wipeAfterOthers(files: Files): Promise<void> {
  const { folder, lock: path } = files;
  if (!existsSync(folder)) return;
  explained(files, "wiped", () => {
    withdraw(folder);
    rmSync(files.record, { force: true });
  });
  for (let left = MOST_WAIT_MILLISECONDS; isWithdrawn(folder); left -= QUICK_RETRY_MILLISECONDS) {
    const taken = explained(files, "wiped", () => tryLock(files));
    if ("release" in taken) {
      explained(files, "wiped", () => removeRecord(files));
      return explained(files, "unlocked", taken.release);
    }
    if (left <= 0) {
      throw new LetheError("bad-store", `${path} is still held: end the process that writes there, and withdraw again`);
    }
    await sleep(QUICK_RETRY_MILLISECONDS);
  }
}

function tryLock({ folder, lock: path, record }: Files): Lock | HeldLock {
  makeFolder(folder);
  const taken = takeLock(path);
  if ("heldBy" in taken) return taken;
  try {
    removeUnfinished(record);
  } catch (error) {
    taken.release();
    throw error;
  }
  return taken;
}

/** With those above it. Not by `recursive: true`: where nothing can be made, as in /proc, Node would try forever. */
function makeFolder(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  const above = dirname(path);
  if (above !== path) makeFolder(above);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have been quicker.
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}

function load({ folder, record }: Files): Uint8Array | undefined {
  const found = lstatSync(record, { throwIfNoEntry: false });
  if (!found) {
    // No record yet is one thing, a folder that is gone another.
    statSync(folder);
    return undefined;
  }
  // Checked before it is opened: opening a pipe would wait for somebody to write.
  if (!found.isFile()) throw notARecord(record, "is not a regular file");
  if (found.size > LARGEST_RECORD) throw notARecord(record, `has ${found.size} bytes, more than any record`);
  return new Uint8Array(readFileSync(record));
}

function notARecord(path: string, what: string): LetheError {
  return new LetheError("bad-store", `${path} ${what}: remove it, or use another folder`);
}

/** On disk as well: after a power failure, a record without consent must not come back. Called under the lock. */
function removeRecord({ folder, record }: Files): void {
  rmSync(record, { force: true });
  removeUnfinished(record);
  endWithdrawal(folder);
  syncFolder(folder);
}

/** What the user of the program can do about it, by the system's name for it. */
const ADVICE: Readonly<Record<string, string>> = {
  EACCES: "this user may not write there: give this user the right to write there, or use another folder",
  EPERM: "this user may not write there: give this user the right to write there, or use another folder",
  EROFS: "the file system is read-only: make it writable, or use another folder",
  EIO: "the disk failed: check it, and start again; or use another folder",
  ENOSPC: "the disk is full: make room",
  EDQUOT: "the disk quota is used up: make room",
  EFBIG: "the file would be larger than this process may write: raise its limit",
  ENOENT: "it is gone, or cannot be created there: start again with a folder that stays",
  ENOTDIR: "something on its path is not a folder: remove that, or use another folder",
  EEXIST: "something on its path is not a folder: remove that, or use another folder",
  EISDIR: "there is a folder where a file should be: remove that, or use another folder",
  ERR_FS_EISDIR: "there is a folder where a file should be: remove that, or use another folder",
};

function explained<T>({ folder }: Files, done: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (error instanceof LetheError) throw error;
    const advice = ADVICE[(error as NodeJS.ErrnoException).code ?? ""] ?? "look at the cause, or use another folder";
    throw new LetheError("bad-store", `the record in ${folder} cannot be ${done}: ${advice}`, { cause: error });
  }
}
