import { randomBytes } from "node:crypto";
import { Client } from "pg";

/** Runs one statement on a new connection. */
export async function query(url: string, text: string, values: string[] = []): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  // The server may end meanwhile: then the query fails, which is enough.
  client.on("error", () => undefined);
  await client.connect();
  try {
    return (await client.query(text, values)).rows;
  } finally {
    await client.end();
  }
}

export function urlOf(server: string, database: string): string {
  const url = new URL(server);
  url.pathname = database;
  return url.href;
}

/** A new database, empty or a copy of another that nobody uses meanwhile; its URL. */
export async function createDatabase(server: string, original?: string): Promise<string> {
  const name = `lethe_test_${randomBytes(8).toString("hex")}`;
  await query(server, `CREATE DATABASE ${name}${original === undefined ? "" : ` TEMPLATE ${nameOf(original)}`}`);
  return urlOf(server, name);
}

/** Also if somebody still uses it, or it is gone already. */
export async function dropDatabase(server: string, database: string): Promise<void> {
  await query(server, `DROP DATABASE IF EXISTS ${nameOf(database)} WITH (FORCE)`);
}

export function nameOf(database: string): string {
  return new URL(database).pathname.slice(1);
}
