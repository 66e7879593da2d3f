import { open, readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Worker } from "node:worker_threads";
import { LetheError } from "@lethe/core/error";
import { createTurns } from "../async/in-turn.ts";
import {
  type Database,
  DatabaseUnavailable,
  isHandedOver,
  OutOfSpace,
  runTransaction,
  type SqlValue,
} from "./database.ts";
import { whySystemRefused } from "./disk-error.ts";
import type { Question } from "./pglite-statements.ts";
import type { Answer } from "./pglite-thread.ts";
import { ONE_SHARD } from "./shards.ts";
import { type Patience, watchThread } from "./thread-watch.ts";

/** PGlite, and whether its thread still lives. */
export interface EmbeddedDatabase extends Database {
  /**
   * Resolves, with the reason, once the thread will never answer again; everything that was asked has failed by then.
   */
  readonly broken: Promise<LetheError>;
  /** The process is ending: a thread that does not answer is given up within seconds. */
  hurry(): void;
}

/**
 * How long a statement may take. Sweeping a large window takes minutes on a slow disk, and so does reading the log
 * again after a crash.
 */
export const PATIENCE: Patience = { statement: 30, long: 600 };
const IS_LONG = /^(VACUUM|CHECKPOINT|DELETE)\b/;
/** The SQLSTATE of a full disk. */
const DISK_FULL = "53100";

/** A question that the thread is at, or that waits for its turn. */
interface Asked {
  readonly isLong: boolean;
  readonly resolve: (rows: unknown[]) => void;
  readonly reject: (error: Error) => void;
}

/** Asks the database's thread, one question after another, and watches whether it answers. */
interface Conversation extends Pick<EmbeddedDatabase, "broken" | "hurry"> {
  /** Ends the thread: the database is not used any more, for this reason. */
  breakDown(reason: string): void;
  /** The rows of the answer. */
  ask(question: Question | "close"): Promise<unknown[]>;
}

/**
 * PostgreSQL inside this process, in its own thread, so that statements and HTTP run side by side. There is one
 * connection; transactions wait for one another. PGlite never calls fsync: what is committed survives the end of the
 * process, however it ends, but a power failure or a crash of the machine only after `persist`. Later writes reach the
 * disk in any order, so a power failure before the next `persist` can still damage the database.
 *
 * PGlite panics when it cannot write its log, on a full disk, and spins for ever at the next statement. So its thread
 * is ended after a panic, when one statement takes longer than `patience`, and when the disk fails to sync. Earlier
 * commits are there at the next start.
 */
export async function openPglite(folder: string, patience: Patience = PATIENCE): Promise<EmbeddedDatabase> {
  const { ask, broken, hurry, breakDown } = await converse(folder, patience);
  const inTurn = createTurns();
  const query = async <Row>(sql: string, values: readonly SqlValue[] = []): Promise<Row[]> =>
    (await ask({ sql, values })) as Row[];
  return {
    // The turn is over once the question is sent: the thread has the next statement at hand when it has answered this
    // one.
    query: async <Row>(sql: string, values?: readonly SqlValue[]) => {
      const { answer } = await inTurn(async () => ({ answer: query<Row>(sql, values) }));
      return answer;
    },
    transaction: (use) => inTurn(() => runTransaction({ query }, use)),
    // In one turn: nothing is written while the files are synced, so that what is on disk afterwards belongs together.
    persist: () =>
      inTurn(async () => {
        await query("CHECKPOINT");
        await syncAll(folder).catch((error: unknown) => {
          if ((error as NodeJS.ErrnoException).syscall !== "fsync") throw error;
          // After a sync that failed the kernel takes the pages for written: the next one would succeed without them.
          const reason = `the disk did not take what the database wrote: ${whySystemRefused(error)}; check the disk, then start again`;
          breakDown(reason);
          throw new DatabaseUnavailable(reason);
        });
      }),
    close: () =>
      inTurn(async () => {
        await ask("close");
      }),
    shards: ONE_SHARD,
    broken,
    hurry,
  };
}

/** Starts the thread, and resolves when it has opened the database. */
async function converse(folder: string, patience: Patience): Promise<Conversation> {
  const thread = new Worker(new URL("./pglite-thread.js", import.meta.url), {
    workerData: folder,
    execArgv: [],
    // Columns of reports come and go: fewer, larger collections of garbage.
    resourceLimits: { maxYoungGenerationSizeMb: 64 },
  });
  /** In the order they were asked, which is that of the answers. */
  const waiting: Asked[] = [];
  let ended: Error | undefined;
  let isClosing = false;
  let reportBroken: (reason: LetheError) => void = () => undefined;
  const broken = new Promise<LetheError>((resolve) => {
    reportBroken = resolve;
  });
  const next = (isLong: boolean): Promise<unknown[]> =>
    new Promise((resolve, reject) => {
      if (ended) reject(ended);
      else waiting.push({ isLong, resolve, reject });
    });
  const end = (error: Error): void => {
    watch.stop();
    ended ??= error;
    for (const { reject } of waiting.splice(0)) reject(ended);
  };
  const breakDown = (reason: string): void => {
    if (ended) return;
    void thread.terminate();
    reportBroken(new LetheError("bad-database", reason));
    end(new DatabaseUnavailable(reason));
  };
  const watch = watchThread(
    patience,
    () => waiting[0],
    (_asked, seconds) =>
      breakDown(
        `the database's thread has not answered for ${seconds} s and was ended: start again; is the disk full, or too slow?`,
      ),
  );
  thread.on("message", (answer: Answer) => settle(waiting.shift(), answer, breakDown));
  thread.on("error", (error) => breakDown(`the database's thread failed: ${error.message}`));
  thread.on("exit", () => {
    if (isClosing) end(new Error("the database is closed"));
    else breakDown("the database's thread ended by itself");
  });
  await next(true);
  const ask: Conversation["ask"] = (question) => {
    if (question === "close") isClosing = true;
    const answer = next(question === "close" || IS_LONG.test(question.sql));
    const handedOver = question === "close" ? [] : question.values.filter(isHandedOver).map(({ buffer }) => buffer);
    if (!ended) thread.postMessage(question, handedOver);
    return answer;
  };
  return { ask, broken, hurry: watch.hurry, breakDown };
}

/** Passes an answer on to its question. After a panic there will be no other answer. */
function settle(asked: Asked | undefined, answer: Answer, breakDown: (reason: string) => void): void {
  if ("rows" in answer) asked?.resolve(answer.rows);
  else if (answer.isPanic) {
    const reason = `the database gave up, start again: ${answer.error}`;
    asked?.reject(new DatabaseUnavailable(reason));
    breakDown(reason);
  } else {
    asked?.reject(answer.code === DISK_FULL ? new OutOfSpace({ cause: answer.error }) : new Error(answer.error));
  }
}

/** A few at a time: each takes one of the few threads that all file operations share. */
const SYNCED_AT_ONCE = 2;

/** Everything in a folder, the folder, and its own name. */
async function syncAll(folder: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const found = entries.filter((entry) => entry.isFile() || entry.isDirectory());
  const paths = [...found.map(({ parentPath, name }) => join(parentPath, name)), folder, dirname(folder)].values();
  const syncRest = async (): Promise<void> => {
    for (const path of paths) await sync(path);
  };
  await Promise.all(Array.from({ length: SYNCED_AT_ONCE }, syncRest));
}

/** Syncs a file that another thread wrote: fsync is about the file, not about the descriptor. */
async function sync(path: string): Promise<void> {
  const file = await open(path, "r");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
