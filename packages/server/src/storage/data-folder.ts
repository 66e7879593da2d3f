import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { LetheError } from "@lethe/core/error";
import { takeLock } from "@lethe/device/lock-file";
import { ADMIN_TOKEN_FILE } from "./admin-token-file.ts";
import type { Database } from "./database.ts";
import { migrate } from "./migrations.ts";
import { openPglite } from "./pglite.ts";
import { endLeases } from "./reports.ts";

/** Opens the embedded database of a data folder, which one process uses at a time. */
export async function openDataFolder(folder: string): Promise<Database> {
  makeFolder(folder);
  const lock = takeLock(join(folder, "lock"));
  if ("heldBy" in lock) {
    throw new LetheError(
      "bad-data-folder",
      `the data folder ${folder} is in use by ${lock.heldBy}: stop that one, or use another folder`,
    );
  }
  try {
    const database = await openDatabase(folder);
    return {
      ...database,
      close: async () => {
        await database.close();
        lock.release();
      },
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new LetheError("bad-data-folder", `the data folder ${folder} cannot be made`, { cause: error });
  }
}

async function openDatabase(folder: string): Promise<Database> {
  const path = join(folder, "database");
  if (!existsSync(path)) await createDatabase(folder, path);
  // PGlite would make a new database in what is left of a damaged one.
  else if (!existsSync(join(path, "PG_VERSION"))) throw damaged(folder);
  makePrivate(path);
  try {
    const database = await openPglite(path);
    try {
      if (await migrate(database)) await removeOldLog(database);
      await endLeases(database);
    } catch (error) {
      await database.close();
      throw error;
    }
    return database;
  } catch (error) {
    throw error instanceof LetheError ? error : damaged(folder, error);
  }
}

/** What a new schema dropped is still in the write-ahead log, whose old files would be used again and keep it for long. */
async function removeOldLog(database: Database): Promise<void> {
  await database.query("SET wal_recycle = off");
  await database.query("SELECT pg_switch_wal()");
  await database.query("CHECKPOINT");
  await database.query("RESET wal_recycle");
}

/** PGlite lets everyone read and write its files; what is in them decides what is released, and who may ask for it. */
function makePrivate(path: string): void {
  try {
    chmodSync(path, 0o700);
  } catch (error) {
    throw new LetheError("bad-data-folder", `the folder ${path} cannot be closed to others: is it yours?`, {
      cause: error,
    });
  }
}

function damaged(folder: string, cause?: unknown): LetheError {
  return new LetheError(
    "bad-data-folder",
    `the database in ${folder} cannot be opened: it is damaged, or another version of PGlite made it; restore a ` +
      "backup, or use another folder",
    { cause },
  );
}

/** Under another name first: a folder named `database` is always a whole one, wherever the first start was cut off. */
async function createDatabase(folder: string, path: string): Promise<void> {
  const unfinished = `${path}.new`;
  const own = [ADMIN_TOKEN_FILE, basename(unfinished)];
  const foreign = readdirSync(folder).find((name) => !name.startsWith("lock") && !own.includes(name));
  if (foreign !== undefined) {
    throw new LetheError(
      "bad-data-folder",
      `${folder} holds ${foreign} and no database: it is no data folder of Lethe; use an empty or a new one`,
    );
  }
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { mode: 0o700 });
  const database = await openPglite(unfinished);
  await migrate(database);
  await database.close();
  renameSync(unfinished, path);
}
