import { PGlite } from "@electric-sql/pglite";
import {
  type Database,
  runTransaction,
  SESSION_SETTINGS,
  type SqlValue,
} from "../../../server/dist/storage/database.js";
import { migrate } from "../../../server/dist/storage/migrations.js";
import { createStatements } from "../../../server/dist/storage/pglite-statements.js";
import { openPostgres } from "../../../server/dist/storage/postgres.js";
import { ONE_SHARD } from "../../../server/dist/storage/shards.js";

/** A database that the simulator owns: one connection, used by one process at a time, and emptied for every history. */
export interface Engine {
  query<Row>(sql: string, values?: readonly SqlValue[]): Promise<Row[]>;
  begin(): Promise<void>;
  commit(): Promise<void>;
  rollback(): Promise<void>;
  close(): Promise<void>;
}

/** PostgreSQL inside this thread, in memory, with the schema. */
export async function openEmbedded(): Promise<Engine> {
  const pglite = await PGlite.create();
  await pglite.exec(SESSION_SETTINGS);
  const ask = createStatements(pglite);
  const query = async <Row>(sql: string, values: readonly SqlValue[] = []): Promise<Row[]> =>
    (await ask({ sql, values })) as Row[];
  const database: Database = {
    query,
    transaction: (use) => runTransaction({ query }, use),
    persist: async () => undefined,
    close: async () => undefined,
    shards: ONE_SHARD,
  };
  await migrate(database);
  const run = (sql: string) => async (): Promise<void> => void (await query(sql));
  return {
    query,
    begin: run("BEGIN"),
    commit: run("COMMIT"),
    rollback: run("ROLLBACK"),
    close: () => pglite.close(),
  };
}

/** A database of a PostgreSQL server; the service's own driver speaks to it. */
export async function openOnServer(url: string): Promise<Engine> {
  const database = await openPostgres(url);
  let open: { use: Database["query"]; end(isCommit: boolean): Promise<void> } | undefined;
  const end = async (isCommit: boolean): Promise<void> => {
    const ending = open;
    open = undefined;
    await ending?.end(isCommit);
  };
  class RolledBack extends Error {}
  return {
    query: (sql, values) => (open?.use ?? database.query)(sql, values),
    begin: () =>
      new Promise((resolve, reject) => {
        const done = database.transaction(
          (transaction) =>
            new Promise<void>((commit, rollback) => {
              open = {
                use: transaction.query,
                end: async (isCommit) => {
                  if (isCommit) commit();
                  else rollback(new RolledBack());
                  await done.catch((error: unknown) => {
                    if (!(error instanceof RolledBack)) throw error;
                  });
                },
              };
              resolve();
            }),
        );
        done.catch(reject);
      }),
    commit: () => end(true),
    rollback: () => end(false),
    close: database.close,
  };
}

/** As it was after the schema was made. Its id derives from the seed. */
export async function empty(engine: Engine, id: string): Promise<void> {
  const tables = await engine.query<{ name: string }>(
    `SELECT relname::text AS name FROM pg_class WHERE relkind = $1 AND relnamespace = 'public'::regnamespace
     AND relname NOT IN ('lethe_schema', 'database_identity') ORDER BY relname`,
    ["r"],
  );
  await engine.query(`TRUNCATE ${tables.map(({ name }) => name).join(", ")} RESTART IDENTITY`);
  await engine.query("UPDATE database_identity SET id = $1, first_id = NULL, others = ''", [id]);
}
