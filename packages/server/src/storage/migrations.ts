import { LetheError } from "@lethe/core/error";
import type { Database } from "./database.ts";
import { lockSchema } from "./locks.ts";

/**
 * The schema, one step after another; a step that was published never changes. docs/data-model.md describes the
 * tables. Hot tables have no foreign keys: they would be checked row by row.
 */
const MIGRATIONS: readonly string[] = [
  `CREATE TABLE tasks (
     id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
     name text NOT NULL,
     version bigint NOT NULL,
     from_window bigint NOT NULL,
     manifest text NOT NULL,
     signature bytea NOT NULL,
     UNIQUE (name, version),
     UNIQUE (name, from_window)
   );
   CREATE TABLE windows (
     id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
     task_id bigint NOT NULL REFERENCES tasks,
     name text NOT NULL,
     number bigint NOT NULL,
     state text NOT NULL DEFAULT 'collecting' CHECK (state IN ('collecting', 'closed', 'released', 'not-enough', 'lost')),
     secret_commitment bytea NOT NULL,
     enrolled bigint NOT NULL DEFAULT 0,
     received bigint NOT NULL DEFAULT 0,
     erased boolean NOT NULL DEFAULT false,
     UNIQUE (name, number)
   );
   CREATE TABLE devices (
     device bytea PRIMARY KEY,
     window_id bigint NOT NULL,
     public_keys bytea,
     signature bytea,
     token_hash bytea
   );
   ALTER TABLE devices ALTER COLUMN public_keys SET STORAGE EXTERNAL;
   CREATE INDEX spare_devices ON devices (window_id) WHERE token_hash IS NULL;
   CREATE TABLE addresses (
     window_id bigint NOT NULL,
     address bytea NOT NULL,
     enrolled bigint NOT NULL,
     PRIMARY KEY (window_id, address)
   );
   CREATE TABLE reports (
     device bytea PRIMARY KEY,
     window_id bigint NOT NULL,
     body bytea NOT NULL
   ) WITH (toast_tuple_target = 8160);
   ALTER TABLE reports ALTER COLUMN body SET STORAGE EXTERNAL;
   CREATE TABLE uncounted (
     window_id bigint NOT NULL,
     device bytea NOT NULL,
     lease bytea,
     leased_until timestamptz,
     PRIMARY KEY (window_id, device)
   );
   CREATE TABLE refusals (
     window_id bigint NOT NULL,
     reason text NOT NULL,
     requests bigint NOT NULL,
     PRIMARY KEY (window_id, reason)
   );
   CREATE TABLE tallies (
     window_id bigint PRIMARY KEY,
     counted bigint NOT NULL,
     sealed bytea NOT NULL
   );
   CREATE TABLE releases (
     name text NOT NULL,
     number bigint NOT NULL,
     document text NOT NULL,
     PRIMARY KEY (name, number)
   );`,
  `CREATE TABLE operator (
     one boolean PRIMARY KEY DEFAULT true CHECK (one),
     key text NOT NULL
   );
   INSERT INTO operator (key) SELECT manifest::json -> 'servers' -> 0 ->> 'key' FROM tasks ORDER BY id LIMIT 1;
   ALTER TABLE windows ADD COLUMN erasing_by bytea, ADD COLUMN erasing_until timestamptz;
   CREATE TABLE task_requests (
     id bytea PRIMARY KEY,
     request text NOT NULL,
     mac bytea NOT NULL,
     made_at timestamptz NOT NULL DEFAULT clock_timestamp(),
     taken_until timestamptz,
     answer text
   );`,
  `CREATE TABLE agreements (
     name text NOT NULL,
     version bigint NOT NULL,
     task text NOT NULL,
     PRIMARY KEY (name, version)
   );
   CREATE TABLE shared_reports (
     window_id bigint NOT NULL,
     device bytea NOT NULL,
     digest bytea NOT NULL,
     leader_digest bytea NOT NULL,
     verifier bytea NOT NULL,
     PRIMARY KEY (window_id, device)
   ) WITH (toast_tuple_target = 8160);
   ALTER TABLE shared_reports ALTER COLUMN verifier SET STORAGE EXTERNAL;
   ALTER TABLE windows ADD COLUMN helper_commitment bytea;`,
  // It held pseudonyms of network addresses, which anybody could undo by trying all addresses.
  "DROP TABLE addresses;",
  `CREATE TABLE clock (
     one boolean PRIMARY KEY DEFAULT true CHECK (one),
     wall double precision NOT NULL,
     monotonic double precision NOT NULL,
     uptime double precision NOT NULL,
     boot text
   );`,
  "ALTER TABLE operator ADD COLUMN database_id text",
  `CREATE TABLE sdk_files (
     hash text PRIMARY KEY,
     code bytea NOT NULL
   );`,
  // Its place among the task's groups. A task without groups is one group.
  "ALTER TABLE devices ADD COLUMN group_number smallint NOT NULL DEFAULT 0",
  // Spare keys are in bundles, no longer in the table of devices; tallies create new ones. A page of
  // `uncounted` has room for the leases of its rows, so that a lease does not touch the index.
  `CREATE TABLE spare_keys (
     window_id bigint NOT NULL,
     id bigint GENERATED ALWAYS AS IDENTITY,
     entries int NOT NULL,
     devices bytea NOT NULL,
     public_keys bytea NOT NULL,
     signatures bytea NOT NULL,
     PRIMARY KEY (window_id, id)
   );
   ALTER TABLE spare_keys ALTER COLUMN public_keys SET STORAGE EXTERNAL;
   DROP INDEX spare_devices;
   DELETE FROM devices WHERE token_hash IS NULL;
   ALTER TABLE devices DROP COLUMN public_keys, DROP COLUMN signature, ALTER COLUMN token_hash SET NOT NULL;
   ALTER TABLE uncounted SET (fillfactor = 50);`,
  // Outcomes that wait for the webhook. They are queued as long as `webhook` says.
  `CREATE TABLE webhook (
     one boolean PRIMARY KEY DEFAULT true CHECK (one),
     wanted_until timestamptz NOT NULL,
     dropped bigint NOT NULL DEFAULT 0
   );
   CREATE TABLE deliveries (
     place bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
     id uuid NOT NULL DEFAULT gen_random_uuid(),
     name text NOT NULL,
     number bigint NOT NULL,
     attempts int NOT NULL DEFAULT 0,
     due timestamptz NOT NULL DEFAULT clock_timestamp(),
     UNIQUE (name, number)
   );`,
  // What a window counts while it is open, in shards, so that processes do not wait for each other. Pages have room for
  // the next version of their rows.
  `CREATE TABLE window_shards (
     window_id bigint NOT NULL,
     shard bigint NOT NULL,
     enrolled bigint NOT NULL DEFAULT 0,
     received bigint NOT NULL DEFAULT 0,
     PRIMARY KEY (window_id, shard)
   ) WITH (fillfactor = 50);
   ALTER TABLE tallies ADD COLUMN shard bigint NOT NULL DEFAULT 0, DROP CONSTRAINT tallies_pkey,
     ADD PRIMARY KEY (window_id, shard);
   ALTER TABLE refusals ADD COLUMN shard bigint NOT NULL DEFAULT 0, DROP CONSTRAINT refusals_pkey,
     ADD PRIMARY KEY (window_id, reason, shard);`,
  // A service may have several databases; the first has the tasks, and the others a part of every window.
  `CREATE TABLE database_identity (
     one boolean PRIMARY KEY DEFAULT true CHECK (one),
     id text NOT NULL DEFAULT gen_random_uuid()::text,
     first_id text,
     others text NOT NULL DEFAULT ''
   );
   INSERT INTO database_identity DEFAULT VALUES;
   ALTER TABLE windows ADD COLUMN others text NOT NULL DEFAULT '', DROP CONSTRAINT windows_task_id_fkey;`,
  // Tallies fill several pools of keys, and intakes begin to claim at different ones.
  `ALTER TABLE spare_keys ADD COLUMN pool smallint NOT NULL DEFAULT 0, DROP CONSTRAINT spare_keys_pkey,
     ADD PRIMARY KEY (window_id, pool, id);`,
];

/**
 * Brings the schema up to date, or refuses one that a newer version made. Returns whether it changed an existing one.
 * Tests make older ones with `upTo`.
 */
export async function migrate(database: Database, upTo: number = MIGRATIONS.length): Promise<boolean> {
  return database.transaction(async (transaction) => {
    await lockSchema(transaction);
    const [found] = await transaction.query<{ isThere: boolean }>(`SELECT to_regclass($1) IS NOT NULL AS "isThere"`, [
      "lethe_schema",
    ]);
    // Who may not make tables may still use those that are there.
    if (!found?.isThere) await transaction.query("CREATE TABLE lethe_schema (step int PRIMARY KEY)");
    const [row] = await transaction.query<{ step: number | null }>("SELECT max(step) AS step FROM lethe_schema");
    const done = row?.step ?? 0;
    if (done > MIGRATIONS.length) {
      throw new LetheError(
        "bad-database",
        `the database was made by a newer version of Lethe (schema ${done}, this one knows up to ${MIGRATIONS.length}): ` +
          "upgrade Lethe, or use another database",
      );
    }
    for (const [i, sql] of MIGRATIONS.slice(0, upTo).entries()) {
      if (i < done) continue;
      for (const statement of sql.split(";").filter((text) => text.trim() !== "")) await transaction.query(statement);
      await transaction.query("INSERT INTO lethe_schema (step) VALUES ($1)", [i + 1]);
    }
    return done > 0 && done < MIGRATIONS.length;
  });
}
