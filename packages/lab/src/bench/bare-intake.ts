import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Worker } from "node:worker_threads";
import { Pool } from "pg";
import { type Batch, INSERT, TABLE } from "./bare-table.ts";

/**
 * The least that takes reports over HTTP and answers after they are in a database: all that comes while a batch is
 * being inserted is the next batch. It checks nothing. Its argument is the address of a PostgreSQL server, or a folder
 * for PGlite. Sends its port to its parent.
 */
const MOST_TOGETHER = 256;

const [where] = process.argv.slice(2) as [string];
const store = await (where.startsWith("postgres:") ? postgresAt(where) : pgliteIn(where));

type Store = (batch: Batch) => Promise<unknown>;

async function postgresAt(url: string): Promise<Store> {
  const pool = new Pool({ connectionString: url });
  await pool.query(TABLE);
  return (batch) => pool.query({ name: "insert", text: INSERT, values: [...batch] });
}

async function pgliteIn(folder: string): Promise<Store> {
  const thread = new Worker(new URL("./bare-thread.js", import.meta.url), { workerData: folder });
  await once(thread, "message");
  return (batch) => {
    thread.postMessage(batch);
    return once(thread, "message");
  };
}

let waiting: { body: Buffer; response: ServerResponse }[] = [];
let inserting = false;

async function insert(): Promise<void> {
  inserting = true;
  while (waiting.length > 0) {
    const batch = waiting.slice(0, MOST_TOGETHER);
    waiting = waiting.slice(MOST_TOGETHER);
    const devices = Buffer.from(crypto.getRandomValues(new Uint8Array(16 * batch.length)));
    const bodies = Buffer.concat(batch.map(({ body }) => body));
    await store([batch.length, devices, bodies, bodies.length / batch.length]);
    for (const { response } of batch) response.writeHead(201, { "content-length": 0 }).end();
  }
  inserting = false;
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    waiting.push({ body: chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks), response });
    if (!inserting) void insert();
  });
});
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
process.on("disconnect", () => process.exit());
