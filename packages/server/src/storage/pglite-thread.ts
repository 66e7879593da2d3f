import { parentPort, workerData } from "node:worker_threads";
import { PGlite, types } from "@electric-sql/pglite";
import type { SqlValue } from "./database.ts";

/** One statement at a time; the other side waits for the answer before it asks again. */
export interface Question {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}
export type Answer = { readonly rows: unknown[] } | { readonly error: string };

const port = parentPort;
if (!port) throw new TypeError("this file runs as a worker thread");
const database = await PGlite.create({
  dataDir: workerData as string,
  // As text, PGlite's own way, a bytea takes several times as long.
  serializers: { [types.BYTEA]: (bytes: unknown) => bytes as string },
  parsers: { [types.BYTEA]: (hex: string) => new Uint8Array(Buffer.from(hex.slice(2), "hex")) },
});

// Nobody gathers statistics here. Without them the planner likes to read whole windows into bitmaps, dead rows included.
await database.exec("SET enable_bitmapscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off");

/** Without values it is the simple protocol: one message instead of five. */
async function run({ sql, values }: Question): Promise<unknown[]> {
  if (values.length > 0) return (await database.query(sql, [...values])).rows;
  return (await database.exec(sql)).at(-1)?.rows ?? [];
}

port.on("message", async (question: Question | "close") => {
  if (question === "close") {
    await database.close();
    port.postMessage({ rows: [] } satisfies Answer);
    port.close();
    return;
  }
  try {
    port.postMessage({ rows: await run(question) } satisfies Answer);
  } catch (error) {
    port.postMessage({ error: error instanceof Error ? error.message : String(error) } satisfies Answer);
  }
});
port.postMessage({ rows: [] } satisfies Answer);
