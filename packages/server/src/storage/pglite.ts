import { open, readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Worker } from "node:worker_threads";
import { createTurns } from "../in-turn.ts";
import { type Database, isPacked, runTransaction, type SqlValue } from "./database.ts";
import type { Answer, Question } from "./pglite-thread.ts";

/**
 * PostgreSQL inside this process, in a thread of its own, so that statements and HTTP run side by side. There is one
 * connection; transactions wait for one another. PGlite never calls fsync: what is committed survives the end of the process,
 * however it ends, but a power failure or a crash of the machine only after `persist`. What is written after that reaches the disk
 * in any order, so a power failure in the midst of it can still damage the database.
 */
export async function openPglite(folder: string): Promise<Database> {
  const thread = new Worker(new URL("./pglite-thread.js", import.meta.url), {
    workerData: folder,
    execArgv: [],
    // Columns of reports come and go: fewer, larger collections of garbage.
    resourceLimits: { maxYoungGenerationSizeMb: 64 },
  });
  /** In the order they were asked, which is that of the answers. */
  const waiting: { resolve: (rows: unknown[]) => void; reject: (error: Error) => void }[] = [];
  let broken: Error | undefined;

  const next = (): Promise<unknown[]> =>
    new Promise((resolve, reject) => {
      if (broken) reject(broken);
      else waiting.push({ resolve, reject });
    });
  const settle = (answer: Answer): void => {
    const current = waiting.shift();
    if ("rows" in answer) current?.resolve(answer.rows);
    else current?.reject(new Error(answer.error));
  };
  const breakDown = (error: Error): void => {
    broken ??= error;
    for (const { reject } of waiting.splice(0)) reject(broken);
  };
  thread.on("message", settle);
  thread.on("error", breakDown);
  thread.on("exit", () => breakDown(new Error("the database is closed")));
  await next();

  const ask = (question: Question | "close"): Promise<unknown[]> => {
    const answer = next();
    const handedOver = question === "close" ? [] : question.values.filter(isPacked).map(({ buffer }) => buffer);
    if (!broken) thread.postMessage(question, handedOver);
    return answer;
  };
  const inTurn = createTurns();
  const query = async <Row>(sql: string, values: readonly SqlValue[] = []): Promise<Row[]> =>
    (await ask({ sql, values })) as Row[];

  return {
    // The turn is over once it is asked: the thread has the next statement at hand when it is done with this one.
    query: async <Row>(sql: string, values?: readonly SqlValue[]) => {
      const { answer } = await inTurn(async () => ({ answer: query<Row>(sql, values) }));
      return answer;
    },
    transaction: (use) => inTurn(() => runTransaction({ query }, use)),
    // In one turn: nothing is written while the files are synced, so that what is on disk afterwards belongs together.
    persist: () =>
      inTurn(async () => {
        await query("CHECKPOINT");
        await syncAll(folder);
      }),
    close: () =>
      inTurn(async () => {
        await ask("close");
      }),
  };
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

/** Whoever wrote it: fsync is about the file, not about who opened it. */
async function sync(path: string): Promise<void> {
  const file = await open(path, "r");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
