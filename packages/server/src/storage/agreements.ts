import type { Queryable } from "./database.ts";

/** Notes that this operator agrees to a version of a task; false if they have agreed to another text of it. */
export async function addAgreement(
  database: Queryable,
  { name, version, task }: { readonly name: string; readonly version: number; readonly task: string },
): Promise<boolean> {
  await database.query(
    "INSERT INTO agreements (name, version, task) VALUES ($1, $2, $3) ON CONFLICT (name, version) DO NOTHING",
    [name, version, task],
  );
  return (await findAgreement(database, name, version)) === task;
}

export async function findAgreement(database: Queryable, name: string, version: number): Promise<string | undefined> {
  const [row] = await database.query<{ task: string }>("SELECT task FROM agreements WHERE name = $1 AND version = $2", [
    name,
    version,
  ]);
  return row?.task;
}
