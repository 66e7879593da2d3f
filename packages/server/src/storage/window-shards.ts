import type { Queryable } from "./database.ts";

/**
 * What a window counts while it is open is in shards: `windows.enrolled` and `windows.received`, plus those of all its
 * shards. A transaction that adds something locks one shard, which nobody else uses. Closing takes all shards, and waits
 * for the transactions that have them: the lock of a shard is a share in the lock of the window.
 */
export const ENROLLED: string = totalOf("enrolled");
/** How many reports a window has received, all shards together; for statements on `windows`. */
export const RECEIVED: string = totalOf("received");

function totalOf(column: "enrolled" | "received"): string {
  return `(windows.${column} + coalesce((SELECT sum(${column}) FROM window_shards WHERE window_id = windows.id), 0))::bigint`;
}

/**
 * Locks a shard of a window, and makes it if it is the first time: until the transaction ends the window does not close.
 * False if the window is closed.
 */
export async function lockShard(transaction: Queryable, windowId: number, shard: number): Promise<boolean> {
  if (await isLocked(transaction, windowId, shard)) return true;
  // Closing waits for this lock, or this waits for the end of closing and finds the window closed.
  await transaction.query(
    `INSERT INTO window_shards (window_id, shard)
     SELECT id, $2 FROM (SELECT id FROM windows WHERE id = $1 AND state = 'collecting' FOR KEY SHARE) AS collecting
     ON CONFLICT DO NOTHING`,
    [windowId, shard],
  );
  return isLocked(transaction, windowId, shard);
}

async function isLocked(transaction: Queryable, windowId: number, shard: number): Promise<boolean> {
  const rows = await transaction.query(
    "SELECT 1 FROM window_shards WHERE window_id = $1 AND shard = $2 FOR NO KEY UPDATE",
    [windowId, shard],
  );
  return rows.length > 0;
}

/**
 * Takes away all shards of a window, and returns what was in them. The caller has locked the window, in a statement
 * before this one, so that no shard is made meanwhile.
 */
export async function takeShards(
  transaction: Queryable,
  windowId: number,
): Promise<{ readonly enrolled: number; readonly received: number }> {
  const [row] = await transaction.query<{ enrolled: number; received: number }>(
    `WITH taken AS (DELETE FROM window_shards WHERE window_id = $1 RETURNING enrolled, received)
     SELECT coalesce(sum(enrolled), 0)::bigint AS enrolled, coalesce(sum(received), 0)::bigint AS received FROM taken`,
    [windowId],
  );
  return row as { enrolled: number; received: number };
}
