import type { Queryable } from "./database.ts";

/** What a database knows of itself. */
export interface DatabaseIdentity {
  /** A random id that it got when it was made. A window names its databases by these. */
  readonly id: string;
  /** At the first database of a service: the others that a process was started with last. */
  readonly others: readonly Known[];
}

/** A database that answered before. */
export interface Known {
  readonly id: string;
  /** Where it was. */
  readonly label: string;
}

/** The identity of a database. */
export async function findIdentity(database: Queryable): Promise<DatabaseIdentity> {
  const [row] = await database.query<{ id: string; others: string }>("SELECT id, others FROM database_identity");
  const { id, others } = row as { id: string; others: string };
  // Before there were labels, these were ids alone: the next start at which all databases answer stores them as they are now.
  return { id, others: others.startsWith("[") ? (JSON.parse(others) as Known[]) : [] };
}

/** The id of a database. */
export async function identify(database: Queryable): Promise<string> {
  return (await findIdentity(database)).id;
}

/** The id of the first database of the service that this one belongs to: the given one, if it belonged to none. */
export async function claimFor(database: Queryable, firstId: string): Promise<string> {
  const [row] = await database.query<{ firstId: string }>(
    `UPDATE database_identity SET first_id = coalesce(first_id, $1) RETURNING first_id AS "firstId"`,
    [firstId],
  );
  return (row as { firstId: string }).firstId;
}

/** Stores in the first database which others there are. */
export async function rememberOthers(first: Queryable, others: readonly Known[]): Promise<void> {
  const text = others.length === 0 ? "" : JSON.stringify(others);
  await first.query("UPDATE database_identity SET others = $1 WHERE others <> $1", [text]);
}
