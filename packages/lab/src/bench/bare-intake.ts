import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Pool } from "pg";

/**
 * The least that takes reports over HTTP and answers after they are in a database: all that comes while a batch is
 * being inserted is the next batch. It checks nothing. Sends its port to its parent.
 */
const MOST_TOGETHER = 256;
/** All bytes of a batch in two values, which are never turned into text: the fastest way that we know. */
const INSERT = `INSERT INTO bare (device, body)
  SELECT substring($2::bytea from i * 16 + 1 for 16), substring($3::bytea from i * $4::int + 1 for $4)
  FROM generate_series(0, $1::int - 1) AS i`;

const pool = new Pool({ connectionString: process.argv[2] as string });
await pool.query(
  `CREATE TABLE IF NOT EXISTS bare (device bytea PRIMARY KEY, body bytea NOT NULL) WITH (toast_tuple_target = 8160);
   ALTER TABLE bare ALTER COLUMN body SET STORAGE EXTERNAL`,
);

let waiting: { body: Buffer; response: ServerResponse }[] = [];
let inserting = false;

async function insert(): Promise<void> {
  inserting = true;
  while (waiting.length > 0) {
    const batch = waiting.slice(0, MOST_TOGETHER);
    waiting = waiting.slice(MOST_TOGETHER);
    const devices = Buffer.from(crypto.getRandomValues(new Uint8Array(16 * batch.length)));
    const bodies = Buffer.concat(batch.map(({ body }) => body));
    const values = [batch.length, devices, bodies, bodies.length / batch.length];
    await pool.query({ name: "insert", text: INSERT, values });
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
