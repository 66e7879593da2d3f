import { LetheError } from "@lethe/core/error";
import type { ClientBase, PoolConfig, QueryConfig } from "pg";
import {
  type Database,
  DatabaseUnavailable,
  type Queryable,
  runTransaction,
  SESSION_SETTINGS,
  type SqlValue,
} from "./database.ts";
import { identify } from "./database-identity.ts";
import { hostsOf } from "./database-url.ts";
import { migrate } from "./migrations.ts";
import { createPrimary, type Primary, unavailable } from "./primary.ts";
import { createServerCheck, isUnreplicated, type ServerCheck, waitForStandby } from "./server-checks.ts";
import { createShards } from "./shards.ts";
import { BYTEA, readText } from "./values.ts";

const MOST_CONNECTIONS = 10;
const CONNECT_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_MS = 10_000;
/**
 * A server that does not answer, for example without power, is given up; its last statement may have happened or not.
 */
const QUERY_TIMEOUT_MS = 60_000;
/** A statement that takes longer may be at a server that hangs, while another has taken over. */
const PATIENCE_MS = 10_000;
/** A connection that is used is checked again after this time. */
const CHECK_MS = 1000;
const OLDEST_VERSION = 14;
/** How often a transaction is tried that conflicts with others. */
const MOST_TRIES = 5;

/**
 * A process that is stopped in the middle of a transaction holds its locks no longer than this. Plans are made for a
 * few known statements, which compiling would only delay. A warning may say that a standby lacks a commit.
 */
const SETTINGS = `${SESSION_SETTINGS}; SET jit = off; SET default_transaction_isolation = 'read committed';
  SET client_min_messages = 'warning';
  SET idle_in_transaction_session_timeout = '30s'; SET lock_timeout = '50s'`;

/** How a PostgreSQL server is used. */
export interface PostgresOptions {
  readonly queryTimeoutMs?: number;
  /** What errors call it. */
  readonly what?: string;
  /** Refuses a server that confirms a commit before a standby has it on its disk. */
  readonly requireStandby?: boolean;
}

/**
 * A PostgreSQL server, which any number of processes may share. A commit is on its disk, and on that of a synchronous
 * standby if it has one. If the URL names several hosts, the one that accepts writes is used.
 */
export async function openPostgres(url: string, options: PostgresOptions = {}): Promise<Database> {
  const { queryTimeoutMs = QUERY_TIMEOUT_MS, requireStandby = false, what = "the database of DATABASE_URL" } = options;
  const hosts = hostsOf(url);
  const check = createServerCheck({ requireStandby, areCopies: hosts.length > 1 });
  const primary = createPrimary(hosts, (alone) => poolConfig(alone, queryTimeoutMs, check));
  const database = databaseOf(primary, check);
  try {
    await requireSuitable(database);
    await migrate(database);
    check.expectDatabase(await identify(database));
    return database;
  } catch (error) {
    await primary.close();
    throw whyUnusable(what, error);
  }
}

function whyUnusable(what: string, error: unknown): LetheError {
  if (error instanceof LetheError) return error;
  // A server that was found, and refused.
  if (error instanceof DatabaseUnavailable && error.cause instanceof LetheError) return error.cause;
  const reason = error instanceof Error ? error.message : String(error);
  return new LetheError(
    "bad-database",
    `${what} cannot be used: ${reason}; is it running, and may this user create tables in it?`,
  );
}

function poolConfig(url: string, queryTimeoutMs: number, check: ServerCheck): PoolConfig {
  return {
    connectionString: url,
    max: MOST_CONNECTIONS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: queryTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    application_name: "lethe",
    types: { getTypeParser: parserOf },
    onConnect: async (client) => {
      client.on("notice", (notice) => {
        if (isUnreplicated(notice)) unreplicated.add(client);
      });
      await client.query(SETTINGS);
      await check.onConnect(queryableOf(client));
      requireReplicated(client);
      checkedAt.set(client, performance.now());
    },
  };
}

/** When a connection was last checked; and those that have confirmed a commit which the standby may not have. */
const checkedAt = new WeakMap<ClientBase, number>();
const unreplicated = new WeakSet<ClientBase>();

function requireReplicated(client: ClientBase): void {
  if (unreplicated.has(client)) throw new DatabaseUnavailable("a commit was confirmed before the standby had it");
}

/** The driver asks for text, and gets bytes as their hexadecimal digits. */
function parserOf(type: number): (text: string) => unknown {
  if (type === BYTEA) return (text) => new Uint8Array(Buffer.from(text.slice(2), "hex"));
  return (text) => readText(type, text);
}

function databaseOf(primary: Primary, check: ServerCheck): Database {
  const using = <T>(use: (connection: Queryable) => Promise<T>): Promise<T> =>
    retried(() => withConnection(primary, check, use));
  return {
    query: (sql, values) => using((connection) => connection.query(sql, values)),
    transaction: (use) => using((connection) => runTransaction(connection, use)),
    persist: () => using(waitForStandby),
    close: primary.close,
    shards: createShards(),
  };
}

/** A connection that broke is not used again. */
async function withConnection<T>(
  primary: Primary,
  check: ServerCheck,
  use: (connection: Queryable) => Promise<T>,
): Promise<T> {
  const client = await primary.connect();
  let isBroken = false;
  const onError = (): void => {
    isBroken = true;
  };
  client.on("error", onError);
  const impatience = setInterval(() => void primary.lookElsewhere(), PATIENCE_MS);
  try {
    await checkNowAndThen(client, check);
    const result = await use(queryableOf(client));
    requireReplicated(client);
    return result;
  } catch (error) {
    isBroken ||= error instanceof DatabaseUnavailable;
    throw error;
  } finally {
    clearInterval(impatience);
    client.off("error", onError);
    client.release(isBroken);
  }
}

/** The server's settings may change while a connection is open. */
async function checkNowAndThen(client: ClientBase, check: ServerCheck): Promise<void> {
  if (performance.now() - (checkedAt.get(client) ?? 0) < CHECK_MS) return;
  try {
    await check.again(queryableOf(client));
  } catch (error) {
    throw unavailable(error);
  }
  checkedAt.set(client, performance.now());
}

/** The texts are the program's own: there are as many as it has statements, and lengths of reports. */
const names = new Map<string, string>();

function nameOf(sql: string): string {
  const name = names.get(sql) ?? `lethe_${names.size}`;
  names.set(sql, name);
  return name;
}

function queryableOf(client: ClientBase): Queryable {
  return {
    query: async <Row>(sql: string, values: readonly SqlValue[] = []): Promise<Row[]> => {
      try {
        if (values.length > 0) {
          return (await client.query({ name: nameOf(sql), text: sql, values: [...values] })).rows as Row[];
        }
        // Statements without values are rare, and may come several at a time.
        const result = await client.query(isLong(sql) ? patiently(sql) : sql);
        return ((Array.isArray(result) ? result.at(-1) : result)?.rows ?? []) as Row[];
      } catch (error) {
        throw isUnavailable(error) ? unavailable(error) : error;
      }
    },
  };
}

/** Vacuuming after a large window takes long. */
const LONGEST_MS = 3_600_000;

const isLong = (sql: string): boolean => sql.startsWith("VACUUM");

/** The driver knows this setting of a query; its types do not. */
const patiently = (sql: string): QueryConfig => ({ text: sql, query_timeout: LONGEST_MS }) as QueryConfig;

/**
 * The codes of transactions that wait for each other, or that conflict: one of them is rolled back, and tried again.
 */
const INTERFERENCE = new Set(["40001", "40P01"]);

async function retried<T>(use: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await use();
    } catch (error) {
      if (!INTERFERENCE.has(codeOf(error)) || tries === MOST_TRIES) throw error;
    }
  }
}

/**
 * Broken or refused connections, a server that stops, starts, or became a standby, a transaction ended from outside, a
 * lock that is not let go, no room. Errors without a code are the driver's own, about connections.
 */
function isUnavailable(error: unknown): boolean {
  if (error instanceof RangeError || error instanceof TypeError) return false;
  return /^($|08|53|57P|25006|25P03|55P03|E[A-Z]+$)/.test(codeOf(error));
}

function codeOf(error: unknown): string {
  const { code } = error as { code?: unknown };
  return typeof code === "string" ? code : "";
}

async function requireSuitable(database: Database): Promise<void> {
  const [found] = await database.query<{ version: number }>(
    "SELECT current_setting('server_version_num')::int / 10000 AS version WHERE $1",
    [true],
  );
  if (!found || found.version < OLDEST_VERSION) {
    throw new LetheError("bad-database", `PostgreSQL ${OLDEST_VERSION} or later is needed, not ${found?.version}`);
  }
}
