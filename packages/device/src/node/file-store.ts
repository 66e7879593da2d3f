import {
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { LetheError } from "@lethe/core/error";
import type { Store } from "../store/store.ts";
import { takeLock } from "./lock-file.ts";

const RETRY_MILLISECONDS = 1_000;
/** Far above any record, far below what would exhaust the memory of a program that merely wants to count. */
const LARGEST_RECORD = 64 * 2 ** 20;

/**
 * Keeps the record in a folder of its own, which is made if it is not there: `record`, exactly its bytes, beside `lock`. Only
 * the user may read them. One process writes at a time; the others wait, and take over within a second or so of its end.
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
  return {
    lock: (signal) => lock(files, signal),
    load: async () => explained(files, "read", () => load(files)),
    save: async (record, { durable }) => {
      if (record.length > LARGEST_RECORD) throw new RangeError(`a record has at most ${LARGEST_RECORD} bytes`);
      explained(files, "written", () => save(files, record, durable));
    },
    wipe: async () => explained(files, "wiped", () => wipe(files)),
    close: async () => {},
  };
}

interface Files {
  readonly folder: string;
  readonly record: string;
  /** Only the writer makes it, so one name does, and what a killed one left is found. */
  readonly unfinished: string;
  readonly lock: string;
}

function filesIn(folder: string): Files {
  const record = join(folder, "record");
  return { folder, record, unfinished: `${record}.new`, lock: join(folder, "lock") };
}

async function lock(files: Files, signal: AbortSignal): Promise<(() => Promise<void>) | undefined> {
  while (!signal.aborted) {
    const release = explained(files, "locked", () => tryLock(files));
    if (release) return async () => explained(files, "unlocked", release);
    // Without a reference: a program that has nothing left but to wait for another may end.
    await sleep(RETRY_MILLISECONDS, undefined, { ref: false, signal }).catch(() => undefined);
  }
  return undefined;
}

function tryLock({ folder, lock: path, unfinished }: Files): (() => void) | undefined {
  makeFolder(folder);
  const taken = takeLock(path);
  if ("heldBy" in taken) return undefined;
  try {
    rmSync(unfinished, { force: true });
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

/**
 * Killed at any moment, the process leaves the old record or the new one; the new one, if this had returned.
 *
 * After a power failure, too, it is one of them as a whole. For that the file must be on disk before its new name is: file
 * systems are free to write the rename first (ext4 avoids it by default, others need not), and an empty record would take the
 * place of a good one. So the file is synced always; only `durable` also syncs the folder. Without, a power failure may bring
 * back an earlier record.
 */
function save({ folder, record: path, unfinished }: Files, record: Uint8Array, durable: boolean): void {
  try {
    writeNew(unfinished, record);
    renameSync(unfinished, path);
  } catch (error) {
    removeIfPossible(unfinished);
    throw error;
  }
  if (durable) syncFolder(folder);
}

function writeNew(path: string, bytes: Uint8Array): void {
  rmSync(path, { force: true });
  const file = openSync(path, "wx", 0o600);
  try {
    // Unlike `writeSync`, which may write a part and say so, this writes everything or throws.
    writeFileSync(file, bytes);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Half a record must not fill up a full disk. If it stays, the next save or the next lock removes it. */
function removeIfPossible(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // What went wrong before is told.
  }
}

/** On disk as well: who withdraws consent does not find the record again after a power failure. */
function wipe({ folder, record, unfinished }: Files): void {
  rmSync(record, { force: true });
  rmSync(unfinished, { force: true });
  syncFolder(folder);
}

function syncFolder(path: string): void {
  // Windows cannot sync a folder; NTFS keeps a journal of names.
  if (process.platform === "win32") return;
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
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
