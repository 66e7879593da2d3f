import {
  type Database,
  DatabaseUnavailable,
  type Queryable,
  runTransaction,
  type SqlValue,
} from "../../../server/dist/storage/database.js";
import { createShards } from "../../../server/dist/storage/shards.js";
import type { Engine } from "./engine.ts";
import type { SimulatedProcess, World } from "./world.ts";

/** A statement, or the end of a transaction, as somebody who watches a database sees it. */
export interface Statement {
  readonly sql: string;
  readonly values: readonly SqlValue[];
  /** Which transaction it belongs to; undefined for a statement alone. */
  readonly transaction: number | undefined;
}

/** Watches and changes what reaches a database: the oracle, and planted bugs. */
export interface Watcher {
  /** Before a statement is executed, on the connection of its transaction. */
  before(process: SimulatedProcess, statement: Statement): Promise<void>;
  after(process: SimulatedProcess, statement: Statement, rows: readonly unknown[]): Promise<void>;
  /** A transaction has ended; statements alone commit by themselves. */
  ended(process: SimulatedProcess, transaction: number, isCommitted: boolean): Promise<void>;
  /** Whether this statement's connection fails, before it is executed or after. */
  fails(process: SimulatedProcess): "before" | "after" | undefined;
}

/** Replaces a statement of a process; planted bugs do. */
export type Rewriting = (
  process: SimulatedProcess,
  statement: Statement,
  execute: (sql: string, values: readonly SqlValue[]) => Promise<unknown[]>,
) => Promise<unknown[]> | undefined;

/** A database of the world, which its processes share. */
export interface SimulatedDatabase {
  /** The database as a process sees it. */
  handle(process: SimulatedProcess): Database;
  /** For those who watch: outside of time. */
  readonly engine: Engine;
}

/**
 * One connection: a transaction has it from beginning to end, everybody else waits. A process that is killed leaves a
 * transaction that is rolled back.
 */
export function createDatabase(
  world: World,
  engine: Engine,
  watcher: Watcher,
  options: { readonly rewrite?: Rewriting | undefined; readonly isShared: boolean },
): SimulatedDatabase {
  /** Those who wait for the connection. */
  const waiting: { readonly process: SimulatedProcess; readonly grant: () => void }[] = [];
  let isTaken = false;
  let transactions = 0;

  function next(): void {
    const first = waiting.shift();
    if (!first) isTaken = false;
    else if (first.process.isDead) next();
    else first.grant();
  }

  /**
   * Resolves in time when the process has the connection, with what gives it back after `end`. If the process dies, it
   * is given back too.
   */
  function take(process: SimulatedProcess, end: () => Promise<unknown> = async () => undefined): Promise<() => void> {
    return new Promise((resolve) => {
      // Killed by another call a moment ago: what would give the connection back has run already.
      if (process.isDead) return;
      const grant = (): void => {
        const release = onceEnded(process, async () => {
          await end();
          next();
        });
        world.later(0, process, () => resolve(release));
      };
      if (isTaken) waiting.push({ process, grant });
      else {
        isTaken = true;
        grant();
      }
    });
  }

  /** The machine of the database does something, and the process hears of it later, if it lives. */
  function perform<T>(process: SimulatedProcess, act: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const latency = process.draws.below(4);
      world.laterAndWait(1 + latency, async () => {
        // Its connection was closed, and a transaction rolled back.
        if (process.isDead) return;
        try {
          const result = await act();
          world.later(1, process, () => resolve(result));
        } catch (error) {
          world.later(1, process, () => reject(error));
        }
      });
    });
  }

  async function execute(process: SimulatedProcess, statement: Statement): Promise<unknown[]> {
    const run = (sql: string, values: readonly SqlValue[]): Promise<unknown[]> =>
      engine.query(...inTime(sql, values, world.now()));
    await watcher.before(process, statement);
    const rows = await (options.rewrite?.(process, statement, run) ?? run(statement.sql, statement.values));
    await watcher.after(process, statement, rows);
    return rows;
  }

  /** A statement, and a port: the process may die before it is sent, or before its answer arrives. */
  async function ask<Row>(process: SimulatedProcess, statement: Statement): Promise<Row[]> {
    await world.port(process);
    const failure = watcher.fails(process);
    if (failure === "before") throw new DatabaseUnavailable("the connection was lost");
    const rows = await perform(process, () => execute(process, statement));
    await world.port(process);
    if (failure === "after") throw new DatabaseUnavailable("the connection was lost, and with it the answer");
    return rows as Row[];
  }

  async function alone<Row>(process: SimulatedProcess, sql: string, values: readonly SqlValue[]): Promise<Row[]> {
    await world.port(process);
    const release = await take(process);
    try {
      return await ask<Row>(process, { sql, values, transaction: undefined });
    } finally {
      release();
    }
  }

  /** Calls `end` when the process dies, or now, whichever is first. */
  function onceEnded(process: SimulatedProcess, end: () => Promise<unknown>): () => void {
    let isEnded = false;
    const once = (): void => {
      if (isEnded) return;
      isEnded = true;
      world.laterAndWait(0, end);
    };
    process.onDeath.push(once);
    return () => {
      const at = process.onDeath.indexOf(once);
      if (at >= 0) process.onDeath.splice(at, 1);
      once();
    };
  }

  async function transact<T>(process: SimulatedProcess, use: (transaction: Queryable) => Promise<T>): Promise<T> {
    await world.port(process);
    const transaction = ++transactions;
    let isOpen = false;
    const close = async (isCommitted: boolean): Promise<void> => {
      if (!isOpen) return;
      isOpen = false;
      await (isCommitted ? engine.commit() : engine.rollback());
      await watcher.ended(process, transaction, isCommitted);
    };
    const release = await take(process, () => close(false));
    const query = async <Row>(sql: string, values: readonly SqlValue[] = []): Promise<Row[]> => {
      if (sql !== "BEGIN" && sql !== "COMMIT" && sql !== "ROLLBACK") return ask(process, { sql, values, transaction });
      await world.port(process);
      const failure = sql === "COMMIT" ? watcher.fails(process) : undefined;
      if (failure === "before") throw new DatabaseUnavailable("the connection was lost");
      await perform(process, async () => {
        if (sql === "BEGIN") {
          await engine.begin();
          isOpen = true;
        } else await close(sql === "COMMIT");
      });
      await world.port(process);
      if (failure === "after") throw new DatabaseUnavailable("the connection was lost, and with it the answer");
      return [];
    };
    try {
      return await runTransaction({ query }, use);
    } finally {
      release();
    }
  }

  return {
    engine,
    handle: (process) => ({
      query: (sql, values = []) => alone(process, sql, values),
      transaction: (use) => transact(process, use),
      persist: async () => {
        await world.port(process);
      },
      close: async () => undefined,
      shards: options.isShared ? createShards() : { own: 0, borrow: (use) => use(0) },
    }),
  };
}

/** The database's clock is the world's. */
function inTime(sql: string, values: readonly SqlValue[], now: number): [string, readonly SqlValue[]] {
  if (!sql.includes("clock_timestamp()")) return [sql, values];
  return [sql.replaceAll("clock_timestamp()", `to_timestamp($${values.length + 1}::float8)`), [...values, now / 1000]];
}
