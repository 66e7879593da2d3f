import type { ReleaseOrWithheld } from "@lethe/core/message";
import type { Queryable } from "./database.ts";

/** The database refuses a second one for the same window. */
export async function addRelease(transaction: Queryable, release: ReleaseOrWithheld): Promise<void> {
  await transaction.query("INSERT INTO releases (name, number, document) VALUES ($1, $2, $3)", [
    release.task,
    release.window,
    JSON.stringify(release),
  ]);
}

/** As they were made, JSON texts, newest first. */
export async function findReleases(
  database: Queryable,
  name: string,
  { before, limit }: { readonly before: number; readonly limit: number },
): Promise<string[]> {
  const rows = await database.query<{ document: string }>(
    "SELECT document FROM releases WHERE name = $1 AND number < $2 ORDER BY number DESC LIMIT $3",
    [name, before, limit],
  );
  return rows.map(({ document }) => document);
}

export async function findRelease(database: Queryable, name: string, number: number): Promise<string | undefined> {
  const [row] = await database.query<{ document: string }>(
    "SELECT document FROM releases WHERE name = $1 AND number = $2",
    [name, number],
  );
  return row?.document;
}
