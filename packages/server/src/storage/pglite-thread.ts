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

const LARGE = 1 << 14;

const port = parentPort;
if (!port) throw new TypeError("this file runs as a worker thread");
const database = await PGlite.create({ dataDir: workerData as string });
const statements = new Map<string, Statement>();

await database.exec(SESSION_SETTINGS);
// New log files are filled as they are written, not with zeros before: zeros would double the bytes written.
await database.exec("SET wal_init_zero = off");

/** Kept from one answer to the next: most are about as long as one before. */
let received = new Uint8Array(1 << 16);

/**
 * Sends a message; the answer is valid until the next one. It comes in pieces: PGlite's other ways also decode every
 * value of it as text, reports included, and keep what they decoded.
 */
async function exchange(message: Uint8Array): Promise<Uint8Array> {
  let length = 0;
  const onRawData = (piece: Uint8Array): void => {
    if (length + piece.length > received.length) {
      const larger = new Uint8Array(2 * (length + piece.length));
      larger.set(received.subarray(0, length));
      received = larger;
    }
    received.set(piece, length);
    length += piece.length;
  };
  await database.execProtocolRawStream(message, { syncToFs: false, onRawData });
  return received.subarray(0, length);
}

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
