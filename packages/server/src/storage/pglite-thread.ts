import { parentPort, workerData } from "node:worker_threads";
import { PGlite } from "@electric-sql/pglite";
import { createTurns } from "../async/in-turn.ts";
import { SESSION_SETTINGS } from "./database.ts";
import { createStatements, type Question } from "./pglite-statements.ts";

/** `code` is the SQLSTATE. After a panic a server would restart; PGlite spins at the next statement. */
export type Answer =
  | { readonly rows: unknown[] }
  | { readonly error: string; readonly code: string | undefined; readonly isPanic: boolean };

const LARGE = 1 << 14;

const port = parentPort;
if (!port) throw new TypeError("this file runs as a worker thread");
const database = await PGlite.create({ dataDir: workerData as string });
await database.exec(SESSION_SETTINGS);
// New log files are filled as they are written, not with zeros before: zeros would double the bytes written.
await database.exec("SET wal_init_zero = off");

const run = createStatements(database);

/** The bytes that are handed over, because copying them would take longer. Nobody here uses them any more. */
function largeIn(rows: readonly unknown[]): ArrayBuffer[] {
  const values = rows.flatMap((row) => Object.values(row as Record<string, unknown>));
  return values.flatMap((value) =>
    value instanceof Uint8Array && value.length >= LARGE ? [value.buffer] : [],
  ) as ArrayBuffer[];
}

async function answer(question: Question | "close"): Promise<void> {
  if (question === "close") {
    await database.close();
    port?.postMessage({ rows: [] } satisfies Answer);
    port?.close();
    return;
  }
  try {
    const rows = await run(question);
    port?.postMessage({ rows } satisfies Answer, largeIn(rows));
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
