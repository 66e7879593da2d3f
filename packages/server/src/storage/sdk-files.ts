import type { Queryable } from "./database.ts";

/**
 * Keeps a version of the browser SDK under its hash, for ever: pages name it long after the service has a newer one.
 */
export async function storeSdkFile(database: Queryable, hash: string, code: Uint8Array): Promise<void> {
  // Nearly every start finds it there, and sends no file.
  if (await findSdkFile(database, hash)) return;
  await database.query("INSERT INTO sdk_files (hash, code) VALUES ($1, $2) ON CONFLICT DO NOTHING", [hash, code]);
}

/** Undefined if no service on this database ever had it. */
export async function findSdkFile(database: Queryable, hash: string): Promise<Uint8Array | undefined> {
  const [row] = await database.query<{ code: Uint8Array }>("SELECT code FROM sdk_files WHERE hash = $1", [hash]);
  return row?.code;
}
