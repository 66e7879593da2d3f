import { LetheError } from "@lethe/core/error";
import { type Database, DatabaseUnavailable } from "./database.ts";
import { claimFor, findIdentity, identify, type Known, rememberOthers } from "./database-identity.ts";
import { type Databases, databasesOf } from "./databases.ts";
import { createShards } from "./shards.ts";

/** A database of the operator's list. */
export interface Listed {
  /** What its URL says about where it is, so that another one in its place is not taken for it. */
  readonly label: string;
  readonly open: () => Promise<Database>;
}

/**
 * Opens the databases of a service, in the order in which the operator lists them, and requires that they belong
 * together. The first database remembers the ids of the others by their labels: one that does not answer now, but did
 * before, is opened when it is needed.
 */
export async function joinDatabases(listed: readonly Listed[]): Promise<Databases> {
  const opened: Database[] = [];
  try {
    const [{ open }, ...rest] = listed as [Listed, ...Listed[]];
    const first = await open();
    opened.push(first);
    const { id: firstId, others: remembered } = await findIdentity(first);
    const ids = [firstId];
    for (const [i, { label, open: openOther }] of rest.entries()) {
      const knownId = remembered.find((known) => known.label === label)?.id;
      const database = await openOther().catch((error: unknown) => {
        if (knownId === undefined) throw error;
        return openLater(async () => checked(await openOther(), firstId, knownId, i + 1));
      });
      opened.push(database);
      ids.push("isLate" in database && knownId !== undefined ? knownId : await identify(database));
    }
    const others = rest.map(({ label }, i) => ({ id: ids[i + 1] as string, label }));
    await requireTogether(opened, firstId, others);
    return databasesOf(opened, ids);
  } catch (error) {
    for (const { close } of opened) await close();
    throw error;
  }
}

async function requireTogether(all: readonly Database[], firstId: string, others: readonly Known[]): Promise<void> {
  if (new Set([firstId, ...others.map(({ id }) => id)]).size < all.length) {
    throw new LetheError("bad-database", "DATABASE_URL lists a database twice, or a copy beside its original");
  }
  const answering = [...all.entries()].filter(([, database]) => !("isLate" in database));
  // Nothing is claimed before all of them are found to be right.
  for (const [place, database] of answering) await requireNoTasks(database, place);
  for (const [place, database] of answering) await requireMember(database, firstId, place);
  if (answering.length === all.length) await rememberOthers(all[0] as Database, others);
}

/** A database that was opened late: it must be the one that was expected at its place. */
async function checked(database: Database, firstId: string, id: string, place: number): Promise<Database> {
  try {
    await requireNoTasks(database, place);
    await requireMember(database, firstId, place);
    if ((await identify(database)) === id) return database;
    throw new LetheError("bad-database", `database ${place + 1} of DATABASE_URL is not the one that was there before`);
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function requireNoTasks(database: Database, place: number): Promise<void> {
  if (place === 0 || (await database.query("SELECT 1 FROM tasks LIMIT 1")).length === 0) return;
  throw new LetheError(
    "bad-database",
    `database ${place + 1} of DATABASE_URL has tasks: list the one with the tasks first, and empty ones after it`,
  );
}

async function requireMember(database: Database, firstId: string, place: number): Promise<void> {
  if ((await claimFor(database, firstId)) === firstId) return;
  throw new LetheError(
    "bad-database",
    place === 0
      ? "the first database of DATABASE_URL holds parts of windows only: list the one with the tasks first"
      : `database ${place + 1} of DATABASE_URL belongs to another service`,
  );
}

/** A database that does not answer yet. Everything that is asked of it tries to open it, and fails while that fails. */
function openLater(open: () => Promise<Database>): Database & { readonly isLate: true } {
  let opening: Promise<Database> | undefined;
  const opened = (): Promise<Database> => {
    opening ??= open().catch((error: unknown) => {
      opening = undefined;
      throw new DatabaseUnavailable(error instanceof Error ? error.message : String(error), { cause: error });
    });
    return opening;
  };
  return {
    isLate: true,
    query: async (sql, values) => (await opened()).query(sql, values),
    transaction: async (use) => (await opened()).transaction(use),
    persist: async () => (await opened()).persist(),
    close: async () => (await opening?.catch(() => undefined))?.close(),
    shards: createShards(),
  };
}
