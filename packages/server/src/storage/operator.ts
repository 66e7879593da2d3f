import type { Queryable } from "./database.ts";

/** The key that this database belongs to: the given one, if it belonged to nobody. */
export async function claimForOperator(transaction: Queryable, key: string): Promise<string> {
  await transaction.query("INSERT INTO operator (key) VALUES ($1) ON CONFLICT DO NOTHING", [key]);
  return (await findOperator(transaction)) as string;
}

export async function findOperator(database: Queryable): Promise<string | undefined> {
  const [row] = await database.query<{ key: string }>("SELECT key FROM operator");
  return row?.key;
}
