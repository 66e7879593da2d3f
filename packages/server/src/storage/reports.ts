import { DEVICE_BYTES } from "@lethe/core/message";
import { pack, packedRows, type Queryable } from "./database.ts";

export interface NewReport {
  readonly device: Uint8Array;
  readonly digest: Uint8Array;
  readonly body: Uint8Array;
}

export const DIGEST_BYTES = 32;

/**
 * What is known of devices that want to send a report, by their place in the list; those not enrolled are missing. Looked up one by one:
 * without statistics, which an embedded database does not gather, a join would read the whole table.
 */
export async function findSenders(
  transaction: Queryable,
  windowId: number,
  devices: readonly Uint8Array[],
): Promise<Map<number, { tokenHash: Uint8Array; digest: Uint8Array | null }>> {
  const rows = await transaction.query<{ i: number; tokenHash: Uint8Array | null; digest: Uint8Array | null }>(
    `SELECT i,
       (SELECT token_hash FROM devices WHERE device = c1 AND window_id = $3) AS "tokenHash",
       (SELECT digest FROM reports WHERE device = c1) AS digest
     FROM ${packedRows(DEVICE_BYTES)}`,
    [devices.length, pack(devices), windowId],
  );
  return new Map(rows.flatMap(({ i, tokenHash, digest }) => (tokenHash ? [[i, { tokenHash, digest }]] : [])));
}

/** The window is locked, so nobody else adds to it. */
export async function addReports(
  transaction: Queryable,
  windowId: number,
  reports: readonly NewReport[],
): Promise<void> {
  const width = reports[0]?.body.length;
  if (width === undefined) return;
  await transaction.query(
    `WITH added AS (
       INSERT INTO reports (window_id, device, digest, body)
       SELECT $5, c1, c2, c3 FROM ${packedRows(DEVICE_BYTES, DIGEST_BYTES, width)})
     UPDATE windows SET received = received + $1 WHERE id = $5`,
    [
      reports.length,
      pack(reports.map(({ device }) => device)),
      pack(reports.map(({ digest }) => digest)),
      pack(reports.map(({ body }) => body)),
      windowId,
    ],
  );
}

/** Takes up to so many reports that nobody has counted or is counting; the lease ends by itself if its holder dies. */
export function leaseReports(
  database: Queryable,
  windowId: number,
  lease: Uint8Array,
  most: number,
  seconds: number,
): Promise<{ device: Uint8Array; body: Uint8Array }[]> {
  return database.query(
    `UPDATE reports SET lease = $2, leased_until = clock_timestamp() + make_interval(secs => $4)
     WHERE device IN (
       SELECT device FROM reports
       WHERE window_id = $1 AND NOT counted AND (lease IS NULL OR leased_until < clock_timestamp())
       LIMIT $3 FOR UPDATE SKIP LOCKED)
     RETURNING device, body`,
    [windowId, lease, most, seconds],
  );
}

/** Marks the reports of a lease as counted and says how many they were: fewer than leased if another has taken some over. */
export async function markCounted(transaction: Queryable, windowId: number, lease: Uint8Array): Promise<number> {
  const [row] = await transaction.query<{ marked: number }>(
    `WITH marked AS (
       UPDATE reports SET counted = true, lease = NULL, leased_until = NULL
       WHERE window_id = $1 AND lease = $2 AND NOT counted RETURNING 1)
     SELECT count(*) AS marked FROM marked`,
    [windowId, lease],
  );
  return row?.marked ?? 0;
}
