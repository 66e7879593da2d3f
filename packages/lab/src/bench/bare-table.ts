/** A table like the service's own, without what the service notes besides. */
export const TABLE = `CREATE TABLE IF NOT EXISTS bare (device bytea PRIMARY KEY, body bytea NOT NULL)
    WITH (toast_tuple_target = 8160);
  ALTER TABLE bare ALTER COLUMN body SET STORAGE EXTERNAL`;

/** All bytes of a batch in two values, which are never turned into text: the fastest way that we know. */
export const INSERT = `INSERT INTO bare (device, body)
  SELECT substring($2::bytea from i * 16 + 1 for 16), substring($3::bytea from i * $4::int + 1 for $4)
  FROM generate_series(0, $1::int - 1) AS i`;

/** The values of `INSERT`: the number of rows, their devices and bodies, and the length of a body. */
export type Batch = readonly [number, Uint8Array, Uint8Array, number];
