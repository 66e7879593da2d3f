import type { ReleaseOrWithheld } from "@lethe/core/message";
import type { Queryable } from "./database.ts";
import { queueDelivery } from "./deliveries.ts";

/** Stores a release. The database refuses a second one for the same window. */
export function addRelease(transaction: Queryable, release: ReleaseOrWithheld): Promise<void> {
  return addDocument(transaction, release.task, release.window, JSON.stringify(release));
}

/** Stores a release, a share, or the reason why there is none, exactly as it is published, and queues its delivery. */
export async function addDocument(
  transaction: Queryable,
  name: string,
  number: number,
  document: string,
): Promise<void> {
  await transaction.query("INSERT INTO releases (name, number, document) VALUES ($1, $2, $3)", [
    name,
    number,
    document,
  ]);
  await queueDelivery(transaction, name, number);
}

/** A page with this many characters is full, whatever its limit. */
const MOST_CHARACTERS = 8_000_000;

/** As they were made, JSON texts, newest first: at least one, then as many as fit a page. */
export async function findReleases(
  database: Queryable,
  name: string,
  { before, limit }: { readonly before: number; readonly limit: number },
): Promise<string[]> {
  const rows = await database.query<{ document: string }>(
    `SELECT document FROM (
       SELECT number, document, sum(length(document)) OVER (ORDER BY number DESC) - length(document) AS before
       FROM releases WHERE name = $1 AND number < $2 ORDER BY number DESC LIMIT $3) AS page
     WHERE before < $4 ORDER BY number DESC`,
    [name, before, limit, MOST_CHARACTERS],
  );
  return rows.map(({ document }) => document);
}

/** What was published about a window, JSON text. */
export async function findRelease(database: Queryable, name: string, number: number): Promise<string | undefined> {
  const [row] = await database.query<{ document: string }>(
    "SELECT document FROM releases WHERE name = $1 AND number = $2",
    [name, number],
  );
  return row?.document;
}

/** The newest window of a task whose outcome is published. */
export interface NewestOutcome {
  readonly task: string;
  readonly window: number;
}

/** The newest of every task, by name. A task without outcomes is not among them. */
export async function findNewestOutcomes(database: Queryable): Promise<NewestOutcome[]> {
  // One look into the index of `releases` per task, however many windows it has.
  return database.query<NewestOutcome>(
    `SELECT task, number AS window FROM (
       SELECT DISTINCT name AS task FROM tasks) AS named
     CROSS JOIN LATERAL (
       SELECT number FROM releases WHERE name = task ORDER BY number DESC LIMIT 1) AS newest
     ORDER BY task`,
  );
}
