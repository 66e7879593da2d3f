import { randomBytes } from "node:crypto";
import { DEVICE_BYTES } from "@lethe/core/message";
import { pack, packedRows, type Queryable, unpack } from "./database.ts";
import { TOKEN_HASH_BYTES } from "./devices.ts";

/** A report that was received, with the hash of the token that came with it. */
export interface Arrival {
  readonly device: Uint8Array;
  readonly tokenHash: Uint8Array;
  readonly body: Uint8Array;
}

/**
 * Stores the reports that come from an enrolled device with its own token, and are its first; returns the devices of
 * these. None if the window has no such shard: it is closed, or `lockShard` must make the shard. One statement, so that
 * in the common case it is the whole transaction. Devices are looked up one by one: without statistics, which an
 * embedded database does not gather, a join would read the whole table.
 */
export async function addReports(
  transaction: Queryable,
  windowId: number,
  shard: number,
  arrivals: readonly Arrival[],
): Promise<Uint8Array[]> {
  const width = arrivals[0]?.body.length ?? 0;
  // In the same order everywhere: of two transactions with the same devices one waits for the other, never both.
  const inOrder = arrivals.toSorted((a, b) => Buffer.compare(a.device, b.device));
  const [row] = await transaction.query<{ devices: Uint8Array | null }>(
    `WITH collecting AS (
       SELECT window_id AS id FROM window_shards WHERE window_id = $5 AND shard = $6 FOR NO KEY UPDATE),
     added AS (
       INSERT INTO reports (window_id, device, body)
       SELECT id, c1, c3 FROM collecting, ${packedRows(DEVICE_BYTES, TOKEN_HASH_BYTES, width)}
       WHERE (SELECT token_hash FROM devices WHERE device = c1 AND window_id = $5) = c2
       ON CONFLICT (device) DO NOTHING RETURNING device),
     to_count AS (INSERT INTO uncounted (window_id, device) SELECT $5, device FROM added),
     received AS (
       UPDATE window_shards SET received = received + (SELECT count(*) FROM added) WHERE window_id = $5 AND shard = $6)
     SELECT string_agg(device, '') AS devices FROM added`,
    [
      inOrder.length,
      pack(inOrder.map(({ device }) => device)),
      pack(inOrder.map(({ tokenHash }) => tokenHash)),
      pack(inOrder.map(({ body }) => body)),
      windowId,
      shard,
    ],
  );
  return unpack(row?.devices ?? new Uint8Array(), DEVICE_BYTES);
}

/** What is known of an enrolled device; its report if it has sent one. */
export interface Sender {
  readonly tokenHash: Uint8Array;
  readonly body: Uint8Array | null;
}

/** The senders by their place in the list; devices that are not enrolled in this window are missing. */
export async function findSenders(
  transaction: Queryable,
  windowId: number,
  devices: readonly Uint8Array[],
): Promise<Map<number, Sender>> {
  if (devices.length === 0) return new Map();
  const rows = await transaction.query<{ i: number; tokenHash: Uint8Array | null; body: Uint8Array | null }>(
    `SELECT i,
       (SELECT token_hash FROM devices WHERE device = c1 AND window_id = $3) AS "tokenHash",
       (SELECT body FROM reports WHERE device = c1) AS body
     FROM ${packedRows(DEVICE_BYTES)}`,
    [devices.length, pack(devices), windowId],
  );
  return new Map(rows.flatMap(({ i, tokenHash, body }) => (tokenHash ? [[i, { tokenHash, body }]] : [])));
}

/** A report, with what decides where it counts. */
export interface GroupedReport {
  readonly device: Uint8Array;
  readonly body: Uint8Array;
  /** The place of the device's group among those of the task. */
  readonly group: number;
}

/**
 * Takes up to `most` reports that nobody has counted or is counting. The lease ends after `seconds`, so that others go
 * on if its holder dies. The search begins at a random device, and goes on with the first: from there on everybody would
 * pass over what all others are counting.
 */
export async function leaseReports(
  database: Queryable,
  windowId: number,
  lease: Uint8Array,
  most: number,
  seconds: number,
): Promise<GroupedReport[]> {
  // One value for all rows: hundreds of arrays would cost more than they hold, here and on their way to a thread. Each
  // row is aggregated as a whole, because nothing says that two aggregates see the rows in the same order. All bodies of
  // a window have the same length. No joins, as in `markCounted`.
  const [row] = await database.query<{ count: number; reports: Uint8Array | null }>(
    `WITH later AS MATERIALIZED (
       SELECT device FROM uncounted
       WHERE window_id = $1 AND device >= $5 AND (lease IS NULL OR leased_until < clock_timestamp())
       LIMIT $3 FOR UPDATE SKIP LOCKED),
     earlier AS MATERIALIZED (
       SELECT device FROM uncounted
       WHERE window_id = $1 AND device < $5 AND (lease IS NULL OR leased_until < clock_timestamp())
       LIMIT $3 - (SELECT count(*) FROM later) FOR UPDATE SKIP LOCKED),
     leased AS (
       UPDATE uncounted SET lease = $2, leased_until = clock_timestamp() + make_interval(secs => $4)
       WHERE window_id = $1 AND device = ANY (ARRAY(SELECT device FROM later UNION ALL SELECT device FROM earlier))
       RETURNING device)
     SELECT count(*)::int AS count, string_agg(device ||
       int2send(coalesce((SELECT group_number FROM devices WHERE devices.device = leased.device), 0::int2)) || body,
       '') AS reports
     FROM leased, LATERAL (SELECT body FROM reports WHERE reports.device = leased.device OFFSET 0) AS report`,
    [windowId, lease, most, seconds, new Uint8Array(randomBytes(DEVICE_BYTES))],
  );
  const { count = 0, reports } = row ?? {};
  return reports ? unpack(reports, reports.length / count).map(groupedReport) : [];
}

const GROUP_BYTES = 2;

function groupedReport(row: Uint8Array): GroupedReport {
  return {
    device: row.subarray(0, DEVICE_BYTES),
    body: row.subarray(DEVICE_BYTES + GROUP_BYTES),
    group: new DataView(row.buffer, row.byteOffset).getInt16(DEVICE_BYTES),
  };
}

/**
 * Marks leased reports as counted and returns their number: it is lower if another process has taken over the lease of
 * some. An array is looked up device by device; a join may compare every device with all that are not counted.
 */
export async function markCounted(
  transaction: Queryable,
  windowId: number,
  lease: Uint8Array,
  devices: readonly Uint8Array[],
): Promise<number> {
  const rows = await transaction.query(
    `DELETE FROM uncounted
     WHERE window_id = $3 AND device = ANY (ARRAY(SELECT c1 FROM ${packedRows(DEVICE_BYTES)})) AND lease = $4
     RETURNING 1`,
    [devices.length, pack(devices), windowId, lease],
  );
  return rows.length;
}

/** Ends all leases, for a database whose only process has just started. */
export async function endLeases(database: Queryable): Promise<void> {
  await database.query("UPDATE uncounted SET lease = NULL, leased_until = NULL WHERE lease IS NOT NULL");
  await database.query("UPDATE windows SET erasing_by = NULL, erasing_until = NULL WHERE erasing_by IS NOT NULL");
}

/** Whether a window has reports that are not counted. */
export async function hasUncounted(database: Queryable, windowId: number): Promise<boolean> {
  return (await database.query("SELECT 1 FROM uncounted WHERE window_id = $1 LIMIT 1", [windowId])).length > 0;
}
