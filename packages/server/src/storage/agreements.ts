import type { Task } from "@lethe/core/message";
import type { Database, Queryable } from "./database.ts";
import { lockKeyFile } from "./locks.ts";

/**
 * Stores that this operator agrees to a version of a task, word for word. Returns false if the operator has agreed to
 * another text of this version before.
 */
export async function addAgreement(database: Queryable, task: Task): Promise<boolean> {
  const text = JSON.stringify(task);
  const [row] = await database.query<{ task: string }>(
    `INSERT INTO agreements (name, version, task) VALUES ($1, $2, $3)
     ON CONFLICT (name, version) DO UPDATE SET task = agreements.task RETURNING task`,
    [task.task, task.version, text],
  );
  return row?.task === text;
}

/** The task that this operator has agreed to under this name and version. */
export async function findAgreement(database: Queryable, name: string, version: number): Promise<Task | undefined> {
  const [row] = await database.query<{ task: string }>("SELECT task FROM agreements WHERE name = $1 AND version = $2", [
    name,
    version,
  ]);
  return row && (JSON.parse(row.task) as Task);
}

/** The agreements to tasks that the leader has not made yet, by name and version. */
export function openAgreements(database: Queryable): Promise<{ readonly task: string; readonly version: number }[]> {
  return database.query(
    `SELECT name AS task, version FROM agreements
     WHERE NOT EXISTS (SELECT 1 FROM tasks WHERE tasks.name = agreements.name AND tasks.version = agreements.version)
     ORDER BY name, version`,
  );
}

/** Takes an agreement back; false if there is none, or the leader has made the task. */
export function removeAgreement(database: Database, name: string, version: number): Promise<boolean> {
  return database.transaction(async (transaction) => {
    // The leader may be making it at this moment.
    await lockKeyFile(transaction);
    const removed = await transaction.query(
      `DELETE FROM agreements WHERE name = $1 AND version = $2
       AND NOT EXISTS (SELECT 1 FROM tasks WHERE name = $1 AND version = $2) RETURNING name`,
      [name, version],
    );
    return removed.length > 0;
  });
}
