import { parentPort, workerData } from "node:worker_threads";
import { PGlite, types } from "@electric-sql/pglite";
import { type Batch, INSERT, TABLE } from "./bare-table.ts";

/** PGlite in a folder, in its own thread, as the service has it. Inserts every batch that it is sent, and answers. */
const database = await PGlite.create({
  dataDir: workerData as string,
  serializers: { [types.BYTEA]: (value: unknown) => value as string },
});
await database.exec(TABLE);
parentPort?.on("message", async (batch: Batch) => {
  await database.query(INSERT, [...batch]);
  parentPort?.postMessage("inserted");
});
parentPort?.postMessage("ready");
