import { existsSync, lstatSync, mkdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { LetheError } from "@lethe/core/error";
import { removeUnfinished, replaceFile, syncFolder, takeLock } from "@lethe/files";
import type { Store } from "../store/store.ts";
import { endWithdrawal, isWithdrawn, type Ticket, takeTicket, withdraw } from "./withdrawal.ts";

const RETRY_MILLISECONDS = 1_000;
const WIPE_MILLISECONDS = 50;
const MOST_WAIT_MILLISECONDS = 30_000;
/** Far above any record, far below what would exhaust the memory of a program that merely wants to count. */
const LARGEST_RECORD = 64 * 2 ** 20;

/**
 * Keeps the record in a folder of its own, which is made if it is not there: `record`, exactly its bytes, beside `lock`. Only
 * the user may read them. One process writes at a time; the others wait, and take over within a second or so of its end.
 * `wipe` ends all of them, within a second or so.
 *
 * All or nothing: a new record is written beside the old one and renamed over it. File systems and disks keep the blocks of
 * the old one for as long as they please, so nothing is gained by overwriting it: versions must be indistinguishable anyway.
 *
 * Everything happens before `save` returns. A program that exits gives no time for more, calls are in order by themselves, and
 * the price, one wait for the disk per tick, is small.
 */
export function fileStore(folder: string): Store {
  if (folder === "") throw new TypeError("the folder of a file store has no name");
  // Where it is now, even if the program changes its working folder later.
  const files = filesIn(resolve(folder));
  let isLocked = false;
  return {
    lock: async (signal, onWithdrawn) => {
      const release = await lock(files, signal, onWithdrawn);
      isLocked = release !== undefined;
      return (
        release &&
        (async () => {
          isLocked = false;
          await release();
        })
      );
    },
    load: async () => explained(files, "read", () => load(files)),
    save: async (record, { durable }) => {
      if (record.length > LARGEST_RECORD) throw new RangeError(`a record has at most ${LARGEST_RECORD} bytes`);
      explained(files, "written", () => replaceFile(files.record, record, { durable }));
    },
    wipe: async () => (isLocked ? explained(files, "wiped", () => removeRecord(files)) : wipeAfterOthers(files)),
    close: async () => {},
  };
}

interface Files {
  readonly folder: string;
  readonly record: string;
  readonly lock: string;
}

function filesIn(folder: string): Files {
  return { folder, record: join(folder, "record"), lock: join(folder, "lock") };
}

type OnWithdrawn = Parameters<Store["lock"]>[1];

/** Also undefined if consent is withdrawn while this waits. */
async function lock(
  files: Files,
  signal: AbortSignal,
  onWithdrawn: OnWithdrawn,
): Promise<(() => Promise<void>) | undefined> {
  let ticket: Ticket | undefined;
  try {
    while (!signal.aborted) {
      const release = explained(files, "locked", () => tryLock(files));
      if (ticket?.isValid() === false) {
        release?.();
        void onWithdrawn?.();
        return undefined;
      }
      if (release) return hold(files, release, onWithdrawn);
      ticket ??= explained(files, "locked", () => takeTicket(files.folder));
      // Without a reference: a program that has nothing left but to wait for another may end.
      await sleep(RETRY_MILLISECONDS, undefined, { ref: false, signal }).catch(() => undefined);
    }
    return undefined;
  } finally {
    ticket?.remove();
  }
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
 * Removes the record at once. Then waits for the process that writes, which sees that consent is withdrawn and ends, and
 * removes what that process wrote meanwhile. Throws if the process has not ended after 30 s: it is stopped, or runs an earlier
 * version.
 */
async function wipeAfterOthers(files: Files): Promise<void> {
  const { folder, lock: path } = files;
  if (!existsSync(folder)) return;
  explained(files, "wiped", () => {
    withdraw(folder);
    rmSync(files.record, { force: true });
  });
  for (let left = MOST_WAIT_MILLISECONDS; isWithdrawn(folder); left -= WIPE_MILLISECONDS) {
    const release = explained(files, "wiped", () => tryLock(files));
    if (release) {
      explained(files, "wiped", () => removeRecord(files));
      return explained(files, "unlocked", release);
    }
    if (left <= 0) {
      throw new LetheError("bad-store", `${path} is still held: end the process that writes there, and withdraw again`);
    }
    await sleep(WIPE_MILLISECONDS);
  }
}

function tryLock({ folder, lock: path, record }: Files): (() => void) | undefined {
  makeFolder(folder);
  const taken = takeLock(path);
  if ("heldBy" in taken) return undefined;
  try {
    removeUnfinished(record);
  } catch (error) {
    taken.release();
    throw error;
  }
  return taken.release;
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
  // Looked at before it is opened: opening a pipe would wait for somebody to write.
  if (!found.isFile()) throw notARecord(record, "is no regular file");
  if (found.size > LARGEST_RECORD) throw notARecord(record, `has ${found.size} bytes, more than any record`);
  return new Uint8Array(readFileSync(record));
}

function notARecord(path: string, what: string): LetheError {
  return new LetheError("bad-store", `${path} ${what}: remove it, or use another folder`);
}

/** On disk as well: who withdraws consent does not find the record again after a power failure. Called under the lock. */
function removeRecord({ folder, record }: Files): void {
  rmSync(record, { force: true });
  removeUnfinished(record);
  endWithdrawal(folder);
  syncFolder(folder);
}

/** What the user of the program can do about it, by the system's name for it. */
const ADVICE: Readonly<Record<string, string>> = {
  EACCES: "it is not yours, or closed to you: give this user the right to write there, or use another folder",
  EPERM: "it is not yours, or closed to you: give this user the right to write there, or use another folder",
  EROFS: "it is on a read-only file system: use another folder",
  ENOSPC: "the disk is full: make room",
  EDQUOT: "the disk quota is used up: make room",
  EFBIG: "the file would be larger than this process may write: raise its limit",
  ENOENT: "it is gone, or cannot be made there: start again with a folder that stays",
  ENOTDIR: "there is something on its path that is no folder: remove that, or use another folder",
  EEXIST: "there is something on its path that is no folder: remove that, or use another folder",
  EISDIR: "there is a folder in place of a file: remove that, or use another folder",
  ERR_FS_EISDIR: "there is a folder in place of a file: remove that, or use another folder",
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
