import { LetheError } from "@lethe/core/error";
import { type ClientBase, Pool, type PoolConfig, type QueryConfig } from "pg";
import {
  type Database,
  DatabaseUnavailable,
  type Queryable,
  runTransaction,
  SESSION_SETTINGS,
  type SqlValue,
} from "./database.ts";
import { migrate } from "./migrations.ts";
import { createShards } from "./shards.ts";
import { BYTEA, readText } from "./values.ts";

const MOST_CONNECTIONS = 10;
const CONNECT_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_MS = 10_000;
/**
 * A server that does not answer, for example without power, is given up; its last statement may have happened or not.
 */
const QUERY_TIMEOUT_MS = 60_000;
const OLDEST_VERSION = 14;
/** How often a transaction is tried that conflicts with others. */
const MOST_TRIES = 5;

/**
 * A process that is stopped in the middle of a transaction holds its locks no longer than this. Plans are made for a
 * few known statements, which compiling would only delay.
 */
const SETTINGS = `${SESSION_SETTINGS}; SET jit = off; SET default_transaction_isolation = 'read committed';
  SET idle_in_transaction_session_timeout = '30s'; SET lock_timeout = '50s'`;

/** How a PostgreSQL server is used. */
export interface PostgresOptions {
  readonly queryTimeoutMs?: number;
  /** What errors call it. */
  readonly what?: string;
}

/**
 * A PostgreSQL server, which any number of processes may share. A commit is on its disk, and on that of a synchronous
 * standby if it has one.
 */
export async function openPostgres(url: string, options: PostgresOptions = {}): Promise<Database> {
  const { queryTimeoutMs = QUERY_TIMEOUT_MS, what = "the database of DATABASE_URL" } = options;
  requireUrl(url);
  const pool = new Pool(poolConfig(url, queryTimeoutMs));
  // A connection that breaks while nobody uses it is replaced by the next who asks.
  pool.on("error", () => undefined);
  const database = databaseOf(pool);
  try {
    await requireSuitable(database);
    await migrate(database);
    return database;
  } catch (error) {
    await pool.end();
    if (error instanceof LetheError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new LetheError(
      "bad-database",
      `${what} cannot be used: ${reason}; is it running, and may this user create tables in it?`,
    );
  }
}

/** Throws unless this is an address of PostgreSQL. The message does not quote it, because it holds a password. */
function requireUrl(url: string): void {
  const protocol = URL.canParse(url) ? new URL(url).protocol : "";
  if (protocol !== "postgres:" && protocol !== "postgresql:") {
    throw new LetheError("bad-database", "DATABASE_URL is like postgres://user:password@host:5432/database");
  }
}

function poolConfig(url: string, queryTimeoutMs: number): PoolConfig {
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
      await client.query(SETTINGS);
      requireDurable(await queryableOf(client).query<Durability>(DURABILITY, [true]));
    },
  };
}

/** The driver asks for text, and gets bytes as their hexadecimal digits. */
function parserOf(type: number): (text: string) => unknown {
  if (type === BYTEA) return (text) => new Uint8Array(Buffer.from(text.slice(2), "hex"));
  return (text) => readText(type, text);
}

function databaseOf(pool: Pool): Database {
  return {
    query: (sql, values) => retried(() => withConnection(pool, (connection) => connection.query(sql, values))),
    transaction: (use) => retried(() => withConnection(pool, (connection) => runTransaction(connection, use))),
    persist: () => retried(() => withConnection(pool, waitForStandby)),
    close: () => pool.end(),
    shards: createShards(),
  };
}

/**
 * A commit whose wait for the standby was cut off, by a restart say, can be read although the standby may not have it.
 * This one comes after it and waits for both.
 */
async function waitForStandby(connection: Queryable): Promise<void> {
  await connection.query("SELECT pg_logical_emit_message(true, 'lethe', '')");
}

/** A connection that broke is not used again. */
async function withConnection<T>(pool: Pool, use: (connection: Queryable) => Promise<T>): Promise<T> {
  const client = await pool.connect().catch((error: unknown) => {
    throw unavailable(error);
  });
  let isBroken = false;
  const onError = (): void => {
    isBroken = true;
  };
  client.on("error", onError);
  try {
    return await use(queryableOf(client));
  } catch (error) {
    isBroken ||= error instanceof DatabaseUnavailable;
    throw error;
  } finally {
    client.off("error", onError);
    client.release(isBroken);
  }
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

function unavailable(error: unknown): DatabaseUnavailable {
  // Several, if the host has several addresses.
  const [first] = (error instanceof AggregateError ? error.errors : [error]) as unknown[];
  return new DatabaseUnavailable(first instanceof Error ? first.message : String(first), { cause: error });
}

interface Durability {
  readonly synchronous: string;
  readonly fsync: string;
}

/** Asked of every connection, because it may lead to a server that took over from another and has other settings. */
const DURABILITY = `SELECT current_setting('synchronous_commit') AS synchronous, current_setting('fsync') AS fsync WHERE $1`;

function requireDurable([found]: readonly Durability[]): void {
  const off = found?.synchronous === "off" ? "synchronous_commit" : found?.fsync === "off" ? "fsync" : undefined;
  if (off === undefined) return;
  throw new Error(`${off} is off in the database: reports that were acknowledged could be lost; set it to on`);
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
