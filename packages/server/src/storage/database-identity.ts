import type { Queryable } from "./database.ts";

/** The random id that a database got when it was made. A window names its databases by these. */
export async function identify(database: Queryable): Promise<string> {
  const [row] = await database.query<{ id: string }>("SELECT id FROM database_identity");
  return (row as { id: string }).id;
}

/** The id of the first database of the service that this one belongs to: the given one, if it belonged to none. */
export async function claimFor(database: Queryable, firstId: string): Promise<string> {
  const [row] = await database.query<{ firstId: string }>(
    `UPDATE database_identity SET first_id = coalesce(first_id, $1) RETURNING first_id AS "firstId"`,
    [firstId],
  );
  return (row as { firstId: string }).firstId;
}
