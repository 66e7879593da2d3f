import { LetheError } from "@lethe/core/error";
import { within } from "../async/within.ts";
import { givenClock, type ServiceClock, startClock } from "../clock/clock.ts";
import { reasonOf } from "../http/operations.ts";
import { openDataFolder } from "../storage/data-folder.ts";
import { type Database, ping } from "../storage/database.ts";
import { labelOf } from "../storage/database-url.ts";
import { type Databases, oneDatabase } from "../storage/databases.ts";
import { joinDatabases } from "../storage/join-databases.ts";
import { openPostgres } from "../storage/postgres.ts";
import { belongsToDatabase } from "../tally/key-file.ts";
import type { Role, ServiceOptions } from "./options.ts";

/** A statement that sweeps a whole table may take this many times as long as another. */
const LONG_STATEMENT_FACTOR = 20;
const READY_MILLISECONDS = 5000;

/** Opens the PostgreSQL databases or the embedded database of the options. */
export async function openDatabases(options: ServiceOptions, role: Role): Promise<Databases> {
  const { databaseUrl, requireStandby = false } = options;
  if (databaseUrl === undefined) return oneDatabase(await openEmbedded(options, role));
  const urls = databaseUrl.split(/\s+/).filter((url) => url !== "");
  if (urls.length > 1 && (role === "leader" || role === "helper")) {
    throw new LetheError("bad-role", `a ${role} has one database, but DATABASE_URL lists ${urls.length}`);
  }
  if (urls.length <= 1) {
    return joinDatabases([{ label: "", open: () => openPostgres(databaseUrl.trim(), { requireStandby }) }]);
  }
  const listed = urls.map((url, place) => {
    const what = `database ${place + 1} of DATABASE_URL`;
    return { label: labelOf(url), open: () => openPostgres(url, { requireStandby, what }) };
  });
  return joinDatabases(listed);
}

function openEmbedded(options: ServiceOptions, role: Role): Promise<Database> {
  const { data, keyFile, newDatabase, leastFreeBytes, databaseSeconds, log, onCreating, requireStandby } = options;
  if (requireStandby) {
    throw new LetheError(
      "bad-database",
      "--require-standby needs a PostgreSQL database, which can have a standby: set DATABASE_URL",
    );
  }
  if (role === "intake" || role === "tally") {
    throw new LetheError(
      "bad-role",
      `role ${role} needs a PostgreSQL database, which processes can share: set DATABASE_URL`,
    );
  }
  if (data === undefined) throw new LetheError("bad-role", "a service needs a data folder, or DATABASE_URL");
  return openDataFolder(data, {
    mayCreate: newDatabase || keyFile === undefined || !belongsToDatabase(keyFile),
    floorBytes: leastFreeBytes,
    onCreating,
    ...(databaseSeconds !== undefined && {
      patience: { statement: databaseSeconds, long: LONG_STATEMENT_FACTOR * databaseSeconds },
    }),
    log,
  });
}

/** The clock of the options, or this machine's, watched. */
export function openClock(
  { clock, databaseUrl, log, acceptClock = false, development = false }: ServiceOptions,
  database: Database,
): Promise<ServiceClock> {
  if (clock) return Promise.resolve(givenClock(clock));
  const isServer = databaseUrl !== undefined;
  return startClock({ database, isServer, log, accept: acceptClock, anyGap: development });
}

/** Why the service is not ready, in one line; undefined if it is. The answer takes no longer than a monitor waits. */
export async function whyNotReady(database: Database, lastError: () => Error | undefined): Promise<string | undefined> {
  try {
    database.guard?.requireRoom();
    if (!(await within(READY_MILLISECONDS, ping(database)))) {
      return `the database has not answered for ${READY_MILLISECONDS / 1000} s`;
    }
    const error = lastError();
    return error && reasonOf(error);
  } catch (error) {
    return reasonOf(error as Error);
  }
}
