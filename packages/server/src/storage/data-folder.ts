import { chmodSync, mkdirSync, readdirSync, renameSync, rmSync, statfsSync } from "node:fs";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { LetheError } from "@lethe/core/error";
import { type Lock, takeLock } from "@lethe/files";
import type { Logger } from "pino";
import { ADMIN_TOKEN_FILE } from "./admin-token-file.ts";
import { type Database, OutOfSpace, type StorageGuard } from "./database.ts";
import { isThere, whySystemRefused } from "./disk-error.ts";
import { guardFolder } from "./folder-guard.ts";
import { migrate } from "./migrations.ts";
import { type EmbeddedDatabase, openPglite, PATIENCE } from "./pglite.ts";
import { endLeases } from "./reports.ts";
import type { Patience } from "./thread-watch.ts";

/** How a data folder is opened. */
export interface DataFolderOptions {
  /** False if the database must exist already. */
  readonly mayCreate?: boolean;
  /** What stays free on the disk; by default a part of the volume (folder-guard.ts). 0 turns this off. */
  readonly floorBytes?: number | undefined;
  readonly patience?: Patience | undefined;
  /** Called before a database is made. */
  readonly onCreating?: (() => void) | undefined;
  readonly log?: Logger;
}

/** Opens the embedded database of a data folder, which one process uses at a time. */
export async function openDataFolder(
  folder: string,
  options: DataFolderOptions = {},
): Promise<Database & { readonly guard: StorageGuard }> {
  const { mayCreate = true, patience = PATIENCE } = options;
  const path = join(folder, "database");
  if (!mayCreate && !isIn(folder, "database")) throw missing(folder);
  makeFolder(folder);
  const lockPath = join(folder, "lock");
  const lock = await lockFor(folder, lockPath);
  try {
    const database = await openDatabase(folder, path, patience, options.onCreating);
    return guarded(folder, [lockPath, join(path, "PG_VERSION")], database, lock, options);
  } catch (error) {
    lock.release();
    throw error;
  }
}

/**
 * Refuses every statement after the folder is gone, because the database would store into files that have no name any
 * more.
 */
function guarded(
  folder: string,
  files: readonly string[],
  database: EmbeddedDatabase,
  lock: Lock,
  { floorBytes, log }: DataFolderOptions,
): Database & { readonly guard: StorageGuard } {
  let reportGone: (reason: LetheError) => void = () => undefined;
  const gone = new Promise<LetheError>((resolve) => {
    reportGone = resolve;
  });
  const guard = guardFolder(folder, files, {
    floorBytes,
    log,
    onGone: ({ message }) => reportGone(new LetheError("bad-data-folder", message)),
  });
  const checked = async <T>(answer: Promise<T>): Promise<T> => {
    const [outcome] = await Promise.allSettled([answer]);
    guard.requirePresent();
    if (outcome.status === "rejected" && outcome.reason instanceof OutOfSpace) guard.isFull();
    return answer;
  };
  return {
    query: (sql, values) => checked(database.query(sql, values)),
    transaction: (use) => checked(database.transaction(use)),
    persist: () => checked(database.persist()),
    close: async () => {
      guard.stop();
      await database.close();
      lock.release();
    },
    shards: database.shards,
    guard: {
      requireRoom: guard.requireRoom,
      room: guard.room,
      broken: Promise.race([gone, database.broken]),
      hurry: database.hurry,
    },
  };
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const message =
      code === "EEXIST" || code === "ENOTDIR"
        ? `the data folder has a file in its way: ${folder} cannot be made`
        : `the data folder ${folder} cannot be made: ${whySystemRefused(error)}`;
    throw new LetheError("bad-data-folder", message, { cause: error });
  }
}

/** A process that was killed may take a moment to end, above all if it was writing. */
const LOCK_PATIENCE_MS = 3000;
const LOCK_POLL_MS = 50;

async function lockFor(folder: string, path: string): Promise<Lock> {
  const deadline = performance.now() + LOCK_PATIENCE_MS;
  for (;;) {
    const lock = tryLock(folder, path);
    if (!("heldBy" in lock)) return lock;
    if (performance.now() > deadline) {
      throw new LetheError(
        "bad-data-folder",
        `the data folder ${folder} is in use by ${lock.heldBy}: stop that one, or use another folder`,
      );
    }
    await sleep(LOCK_POLL_MS);
  }
}

function tryLock(folder: string, path: string): ReturnType<typeof takeLock> {
  try {
    return takeLock(path);
  } catch (error) {
    throw unwritable(folder, error);
  }
}

function unwritable(folder: string, error: unknown): unknown {
  const reason = whySystemRefused(error);
  if (reason === undefined) return error;
  return new LetheError("bad-data-folder", `the data folder ${folder} cannot be used: ${reason}`, { cause: error });
}

/** Throws if the disk fails: that is no reason to make a new database. */
function isIn(folder: string, name: string): boolean {
  try {
    return isThere(join(folder, name));
  } catch (error) {
    throw unwritable(folder, error);
  }
}

function missing(folder: string): LetheError {
  return new LetheError(
    "bad-data-folder",
    `there is no database in the data folder ${folder}, but the key file belongs to one: is the volume mounted? Mount or ` +
      "restore it; or, if that database is lost, begin a new one with --new-database",
  );
}

async function openDatabase(
  folder: string,
  path: string,
  patience: Patience,
  onCreating: DataFolderOptions["onCreating"],
): Promise<EmbeddedDatabase> {
  if (!isIn(folder, "database")) await createDatabase(folder, path, patience, onCreating);
  // PGlite would make a new database in what is left of a damaged one.
  else if (!isIn(folder, "database/PG_VERSION")) throw damaged(folder);
  makePrivate(path);
  try {
    const database = await openPglite(path, patience);
    try {
      if (await migrate(database)) await removeOldLog(database);
      await endLeases(database);
    } catch (error) {
      await database.close();
      throw error;
    }
    return database;
  } catch (error) {
    throw error instanceof LetheError ? error : (outOfSpace(folder, NEEDED.toOpen) ?? damaged(folder, error));
  }
}

/**
 * Data that a new schema dropped is still in the write-ahead log, whose old files are reused and would keep it for
 * long.
 */
async function removeOldLog(database: Database): Promise<void> {
  await database.query("SET wal_recycle = off");
  await database.query("SELECT pg_switch_wal()");
  await database.query("CHECKPOINT");
  await database.query("RESET wal_recycle");
}

/** A database that cannot be opened on a full disk is not damaged. */
function outOfSpace(folder: string, needed: number): LetheError | undefined {
  const { bavail, bsize } = statfsSync(folder);
  const megabytes = Math.floor((bavail * bsize) / 1e6);
  if (megabytes >= needed) return undefined;
  return new LetheError(
    "bad-data-folder",
    `the database in ${folder} cannot be opened: no space is left on the disk (${megabytes} MB free): free at least ${needed} MB`,
  );
}

/** In megabytes: a segment of the log, and a whole new database. */
const NEEDED = { toOpen: 17, toCreate: 50 };

/** Closes a folder to other users: PGlite lets everyone read and write its files, which decide what is released. */
function makePrivate(path: string): void {
  try {
    chmodSync(path, 0o700);
  } catch (error) {
    const reason = whySystemRefused(error);
    throw new LetheError("bad-data-folder", `the folder ${path} cannot be closed to others: is it yours? ${reason}`, {
      cause: error,
    });
  }
}

function damaged(folder: string, cause?: unknown): LetheError {
  return new LetheError(
    "bad-data-folder",
    `the database in ${folder} cannot be opened: it is damaged, or another version of PGlite made it; restore a ` +
      `backup, or use another folder${cause instanceof Error ? ` (${cause.message})` : ""}`,
    { cause },
  );
}

/**
 * Creates a database, under another name first: a folder named `database` is always complete, wherever the first start
 * was cut off.
 */
async function createDatabase(
  folder: string,
  path: string,
  patience: Patience,
  onCreating: DataFolderOptions["onCreating"],
): Promise<void> {
  const unfinished = `${path}.new`;
  const own = [ADMIN_TOKEN_FILE, basename(unfinished)];
  const foreign = readdirSync(folder).find((name) => !name.startsWith("lock") && !own.includes(name));
  if (foreign !== undefined) {
    throw new LetheError(
      "bad-data-folder",
      `${folder} holds ${foreign} and no database: it is no data folder of Lethe; use an empty or a new one`,
    );
  }
  try {
    rmSync(unfinished, { recursive: true, force: true });
    mkdirSync(unfinished, { mode: 0o700 });
    onCreating?.();
    const database = await openPglite(unfinished, patience);
    await migrate(database);
    await database.close();
    renameSync(unfinished, path);
  } catch (error) {
    throw outOfSpace(folder, NEEDED.toCreate) ?? unwritable(folder, error);
  }
}
