/**
 * Everything that is stored in the database, and the only folder with SQL. `docs/data-model.md` describes the tables.
 * There are two databases, a PostgreSQL server (`postgres.ts`) and an embedded one (`pglite.ts`, in a
 * `data-folder.ts`), with one dialect. A service may divide its devices among several (`databases.ts`), and its
 * processes count in shards (`shards.ts`). The other files hold the statements, one file per table or step. This folder
 * may import `async`. Start reading here, then `windows.ts`.
 */

import type { LetheError } from "@lethe/core/error";
import type { Shards } from "./shards.ts";

/** Bytes go as they are: neither driver turns them into text. */
export type SqlValue = string | number | boolean | Uint8Array | null;

/** A database, or a transaction in it. */
export interface Queryable {
  query<Row>(sql: string, values?: readonly SqlValue[]): Promise<Row[]>;
}

/** The one dialect is PostgreSQL's. What `query` alone does is committed when it resolves. */
export interface Database extends Queryable {
  /** Commits when `use` resolves, else rolls back. */
  transaction<T>(use: (transaction: Queryable) => Promise<T>): Promise<T>;
  /** Everything committed is on disk when this resolves. */
  persist(): Promise<void>;
  close(): Promise<void>;
  /** Where this process counts, so that no other waits for it. */
  readonly shards: Shards;
  /** Only an embedded database has one: on a server, disk and process are others' to watch. */
  readonly guard?: StorageGuard;
}

/** Watches what an embedded database depends on: the room on its disk, its folder, and its thread. */
export interface StorageGuard {
  /**
   * Throws `OutOfSpace` if this many bytes more would leave less free than the floor. Asked before something new is
   * taken in.
   */
  requireRoom(bytes?: number): void;
  /** What is free, and whether it is so little that nothing new is taken in. */
  room(): { readonly freeBytes: number; readonly isLow: boolean };
  /** Resolves, with the reason, once the database will never answer again; the process should end. */
  readonly broken: Promise<LetheError>;
  /** The process is ending: a thread that does not answer is given up within seconds. */
  hurry(): void;
}

/** Something that the answer depends on is not available now; the client may try again later. */
export class Unavailable extends Error {
  /** The text for any client. */
  readonly advice: string;

  constructor(advice: string, message: string = advice, options?: ErrorOptions) {
    super(message, options);
    this.advice = advice;
  }
}

/** The database does not answer. The statement may have been executed or not. */
export class DatabaseUnavailable extends Unavailable {
  constructor(message: string, options?: ErrorOptions) {
    super("the database does not answer: try again", message, options);
  }
}

/** The disk is full, or nearly. Nothing was stored. */
export class OutOfSpace extends Unavailable {
  constructor(options?: ErrorOptions) {
    super("the service has too little disk space to store anything: try again later", undefined, options);
  }
}

/** Resolves if the database answers. */
export async function ping(database: Queryable): Promise<true> {
  await database.query("SELECT 1");
  return true;
}

/** Runs a transaction on a connection that nobody else uses meanwhile. */
export async function runTransaction<T>(
  connection: Queryable,
  use: (transaction: Queryable) => Promise<T>,
): Promise<T> {
  await connection.query("BEGIN");
  let result: T;
  try {
    result = await use(connection);
  } catch (error) {
    if (!(error instanceof DatabaseUnavailable)) await connection.query("ROLLBACK");
    throw error;
  }
  await connection.query("COMMIT");
  return result;
}

/**
 * For every connection. Statements are planned once, often while their tables are nearly empty, and an embedded
 * database never gathers statistics: without these the planner may settle on reading whole windows, dead rows included.
 */
export const SESSION_SETTINGS: string = ["seqscan", "bitmapscan", "hashjoin", "mergejoin"]
  .map((method) => `SET enable_${method} = off`)
  .join("; ");

/**
 * The rows of a table that is given as columns of fixed width, each packed end to end into one parameter: one statement
 * for any number of rows, and bytes that nobody parses. `$1` is their number, then come the columns.
 */
export function packedRows(...widths: readonly number[]): string {
  const columns = widths.map((width, i) => `substring($${i + 2}::bytea from i * ${width} + 1 for ${width})`);
  return `(SELECT i, ${columns.map((column, i) => `${column} AS c${i + 1}`).join(", ")} FROM generate_series(0, $1::int - 1) AS i) AS packed`;
}

const owned = new WeakSet<Uint8Array>();

/** A column. */
export function pack(values: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(values.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const value of values) {
    bytes.set(value, at);
    at += value.length;
  }
  return handedOver(bytes);
}

/** Bytes that nobody else uses: the driver may transfer them to another thread. */
export function handedOver(bytes: Uint8Array): Uint8Array {
  owned.add(bytes);
  return bytes;
}

/** The values of a column that came back as one. */
export function unpack(column: Uint8Array, width: number): Uint8Array[] {
  return Array.from({ length: column.length / width }, (_, i) => column.subarray(i * width, (i + 1) * width));
}

/** Whether nobody else uses this value. */
export function isHandedOver(value: unknown): value is Uint8Array<ArrayBuffer> {
  return value instanceof Uint8Array && owned.has(value);
}
