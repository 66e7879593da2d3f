import { parentPort, workerData } from "node:worker_threads";
import { PGlite } from "@electric-sql/pglite";
import { createTurns } from "../async/in-turn.ts";
import { SESSION_SETTINGS, type SqlValue } from "./database.ts";
import { executeMessage, prepareMessage, readColumns, readRows, type Statement } from "./pglite-protocol.ts";

/** A statement. Questions are answered in the order they are asked. */
export interface Question {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}
/** `code` is the SQLSTATE. After a panic a server would restart; PGlite spins at the next statement. */
export type Answer =
  | { readonly rows: unknown[] }
  | { readonly error: string; readonly code: string | undefined; readonly isPanic: boolean };

const port = parentPort;
if (!port) throw new TypeError("this file runs as a worker thread");
const database = await PGlite.create({ dataDir: workerData as string });
const statements = new Map<string, Statement>();

await database.exec(SESSION_SETTINGS);
// New log files are filled as they are written, not with zeros before: zeros would double the bytes written.
await database.exec("SET wal_init_zero = off");

const exchange = (message: Uint8Array): Promise<Uint8Array> => database.execProtocolRaw(message, { syncToFs: false });

/** Statements without values are rare, and may come several at a time. */
async function run({ sql, values }: Question): Promise<unknown[]> {
  if (values.length === 0) return (await database.exec(sql)).at(-1)?.rows ?? [];
  const statement = statements.get(sql) ?? (await prepare(sql));
  return readRows(statement, await exchange(executeMessage(statement, values)));
}

/** The texts are the program's own: there are as many as it has statements, and lengths of reports. */
async function prepare(sql: string): Promise<Statement> {
  const name = `s${statements.size}`;
  const statement = { name, columns: readColumns(await exchange(prepareMessage(name, sql))) };
  statements.set(sql, statement);
  return statement;
}

async function answer(question: Question | "close"): Promise<void> {
  if (question === "close") {
    await database.close();
    port?.postMessage({ rows: [] } satisfies Answer);
    port?.close();
    return;
  }
  try {
    port?.postMessage({ rows: await run(question) } satisfies Answer);
  } catch (error) {
    const { code, severity } = error as { code?: string; severity?: string };
    port?.postMessage({
      error: error instanceof Error ? error.message : String(error),
      code,
      isPanic: severity === "PANIC" || severity === "FATAL",
    } satisfies Answer);
  }
}

const inTurn = createTurns();
port.on("message", (question: Question | "close") => void inTurn(() => answer(question)));
port.postMessage({ rows: [] } satisfies Answer);
