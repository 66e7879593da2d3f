import type { Queryable } from "./database.ts";

/** The key that this database belongs to: the given one, if it belonged to nobody. */
export async function claimForOperator(transaction: Queryable, key: string): Promise<string> {
  await transaction.query("INSERT INTO operator (key) VALUES ($1) ON CONFLICT DO NOTHING", [key]);
  return (await findOperator(transaction)) as string;
}

/** The id of this database, by which a key file knows it: the given one, if it had none. */
export async function claimDatabaseId(transaction: Queryable, id: string): Promise<string> {
  const [row] = await transaction.query<{ id: string }>(
    "UPDATE operator SET database_id = coalesce(database_id, $1) RETURNING database_id AS id",
    [id],
  );
  return (row as { id: string }).id;
}

/** The operator key of this database; undefined before a process with keys has used it. */
export async function findOperator(database: Queryable): Promise<string | undefined> {
  const [row] = await database.query<{ key: string }>("SELECT key FROM operator");
  return row?.key;
}
