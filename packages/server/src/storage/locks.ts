import type { Queryable } from "./database.ts";

/** Any numbers that all processes on a database agree on. */
const SCHEMA = 0x6c657468;
const KEY_FILE = SCHEMA + 1;

/** Until the transaction ends nobody else changes the schema. */
export async function lockSchema(transaction: Queryable): Promise<void> {
  await transaction.query(`SELECT pg_advisory_xact_lock(${SCHEMA})`);
}

/** Until the transaction ends no other process changes the key file that all share. */
export async function lockKeyFile(transaction: Queryable): Promise<void> {
  await transaction.query(`SELECT pg_advisory_xact_lock(${KEY_FILE})`);
}
