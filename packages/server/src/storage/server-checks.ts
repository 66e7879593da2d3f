import { LetheError } from "@lethe/core/error";
import { DatabaseUnavailable, type Queryable } from "./database.ts";
import { identify } from "./database-identity.ts";

/** What a server must be for the service to use it. */
export interface ServerChecks {
  /** `--require-standby`: a commit is on the disks of two servers before it is confirmed. */
  readonly requireStandby: boolean;
  /** Whether all servers must be copies of one another, because the URL names several for one database. */
  readonly areCopies: boolean;
}

/** Checks each connection when it is opened, and what may change while it is open. */
export interface ServerCheck {
  /** Throws unless this server accepts writes, and keeps what it confirms. */
  onConnect(connection: Queryable): Promise<void>;
  /** Throws if the server would by now confirm what only one server has. */
  again(connection: Queryable): Promise<void>;
  /** From now on a connection must lead to the database with this id. */
  expectDatabase(id: string): void;
}

interface Settings {
  readonly readOnly: string;
  readonly synchronous: string;
  readonly fsync: string;
  readonly standbys: string;
}

/** Asked of every connection, because it may lead to a server that took over from another and has other settings. */
const SETTINGS = `SELECT current_setting('transaction_read_only') AS "readOnly", current_setting('fsync') AS fsync,
  current_setting('synchronous_commit') AS synchronous, current_setting('synchronous_standby_names') AS standbys
  WHERE $1`;

/** The servers of one database. The first one that is connected decides which database that is. */
export function createServerCheck({ requireStandby, areCopies }: ServerChecks): ServerCheck {
  let known: string | undefined;
  let expected: string | undefined;

  async function requireSettings(connection: Queryable): Promise<void> {
    const [found] = await connection.query<Settings>(SETTINGS, [true]);
    if (!found) throw new DatabaseUnavailable("the server does not say how it is set up");
    if (found.readOnly === "on") throw new DatabaseUnavailable("it accepts no writes: it is a standby, or read-only");
    requireDurable(found);
    if (requireStandby) requireReplicated(found);
  }

  async function requireSameDatabase(connection: Queryable): Promise<void> {
    const [found] = await connection.query<{ id: string }>(
      "SELECT system_identifier::text AS id FROM pg_control_system() WHERE $1",
      [true],
    );
    known ??= found?.id;
    if (found?.id === known) return;
    throw new LetheError(
      "bad-database",
      "the hosts of DATABASE_URL do not hold the same database: all must be copies of one, by replication",
    );
  }

  return {
    onConnect: async (connection) => {
      await requireSettings(connection);
      if (areCopies) await requireSameDatabase(connection);
      if (expected !== undefined) await requireIdentity(connection, expected);
      if (requireStandby) await requireConfirmed(connection);
    },
    again: async (connection) => {
      if (requireStandby) await requireSettings(connection);
    },
    expectDatabase: (id) => {
      expected = id;
    },
  };
}

/**
 * A database that was created again is empty: as one of several, it would seem to have received nothing for a window that
 * is about to be released.
 */
async function requireIdentity(connection: Queryable, expected: string): Promise<void> {
  const id = await identify(connection).catch((error: unknown) => {
    if (error instanceof DatabaseUnavailable) throw error;
    return undefined;
  });
  if (id === expected) return;
  throw new LetheError(
    "bad-database",
    "there is another database now than when this process started: was it created again? Restore it, then restart",
  );
}

function requireDurable({ synchronous, fsync }: Settings): void {
  const off = synchronous === "off" ? "synchronous_commit" : fsync === "off" ? "fsync" : undefined;
  if (off === undefined) return;
  throw new LetheError(
    "bad-database",
    `${off} is off in the database: reports that were acknowledged could be lost; set it to on`,
  );
}

/** `local` waits for no standby; `remote_write` for one that has not written to its disk. */
function requireReplicated({ synchronous, standbys }: Settings): void {
  if (standbys.trim() === "") {
    throw new LetheError(
      "bad-database",
      "--require-standby: synchronous_standby_names is empty in the database, so it confirms what only one server has; " +
        "set it, or with Patroni synchronous_mode and synchronous_mode_strict",
    );
  }
  if (synchronous === "on" || synchronous === "remote_apply") return;
  throw new LetheError(
    "bad-database",
    `--require-standby: synchronous_commit is ${synchronous} in the database, so it does not wait until a standby has ` +
      "a commit on its disk; set it to on",
  );
}

/** What can be read over a new connection is on a standby, too. */
async function requireConfirmed(connection: Queryable): Promise<void> {
  try {
    await waitForStandby(connection);
  } catch (cause) {
    if (!(cause instanceof DatabaseUnavailable)) throw cause;
    throw new LetheError(
      "bad-database",
      `--require-standby: no standby has confirmed a commit (${cause.message}): is one of synchronous_standby_names running?`,
    );
  }
}

/**
 * Resolves when the standby, if there is one, has everything that was committed before. A commit whose wait for the
 * standby was cut off, by a restart say, can be read although the standby may not have it. This one comes after it and
 * waits for both.
 */
export async function waitForStandby(connection: Queryable): Promise<void> {
  await connection.query("SELECT pg_logical_emit_message(true, 'lethe', '')");
}

/**
 * PostgreSQL warns, and confirms the commit, if the wait for the standby is cancelled: by an administrator, or by
 * `statement_timeout`. The place in its source is in the warning, and, unlike the text, not translated.
 */
export function isUnreplicated(notice: { readonly routine?: string | undefined }): boolean {
  return notice.routine === "SyncRepWaitForLSN";
}
