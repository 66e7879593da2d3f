import { createHash } from "node:crypto";
import { DEVICE_BYTES } from "@lethe/core/message";
import { pack, packedRows, type Queryable } from "./database.ts";
import type { GroupedReport } from "./reports.ts";

const DIGEST_BYTES = 32;

/** A report that a helper has counted, with the one answer that it gives the leader about it. */
export interface HelperReport {
  readonly device: Uint8Array;
  /** Of the report: its device, its id and the helper's half. */
  readonly digest: Uint8Array;
  /** Of the leader's verifier. */
  readonly leaderDigest: Uint8Array;
  readonly verifier: Uint8Array;
}

/**
 * The reports of these devices that the helper has counted, by their place in the list. An array is looked up device by
 * device; a join may compare every device with all reports of the window.
 */
export async function findHelperReports(
  transaction: Queryable,
  windowId: number,
  devices: readonly Uint8Array[],
): Promise<Map<number, HelperReport>> {
  if (devices.length === 0) return new Map();
  const rows = await transaction.query<HelperReport>(
    `SELECT device, digest, leader_digest AS "leaderDigest", verifier FROM shared_reports
     WHERE window_id = $3 AND device = ANY (ARRAY(SELECT c1 FROM ${packedRows(DEVICE_BYTES)}))`,
    [devices.length, pack(devices), windowId],
  );
  if (rows.length === 0) return new Map();
  const places = new Map(devices.map((device, i) => [nameOf(device), i]));
  return new Map(rows.map((row) => [places.get(nameOf(row.device)) as number, row]));
}

const nameOf = (device: Uint8Array): string => Buffer.from(device).toString("hex");

/** Stores reports that the helper counts for the first time. */
export async function addHelperReports(
  transaction: Queryable,
  windowId: number,
  reports: readonly HelperReport[],
): Promise<void> {
  const width = reports[0]?.verifier.length;
  if (width === undefined) return;
  await transaction.query(
    `INSERT INTO shared_reports (window_id, device, digest, leader_digest, verifier)
     SELECT $6, c1, c2, c3, c4 FROM ${packedRows(DEVICE_BYTES, DIGEST_BYTES, DIGEST_BYTES, width)}`,
    [
      reports.length,
      pack(reports.map(({ device }) => device)),
      pack(reports.map(({ digest }) => digest)),
      pack(reports.map(({ leaderDigest }) => leaderDigest)),
      pack(reports.map(({ verifier }) => verifier)),
      windowId,
    ],
  );
  await transaction.query("UPDATE windows SET received = received + $2 WHERE id = $1", [windowId, reports.length]);
}

const AT_ONCE = 1000;
const MOST_BYTES_AT_ONCE = 8_000_000;

/**
 * A hash over the digests of a window's reports, in the order of devices. `digestsAfter` returns the next few, none at
 * the end.
 */
async function hashInOrder(
  digestsAfter: (
    device: Uint8Array,
  ) => Promise<readonly { readonly device: Uint8Array; readonly digest: Uint8Array }[]>,
): Promise<Uint8Array> {
  const hash = createHash("sha256");
  let last: Uint8Array = new Uint8Array();
  for (;;) {
    const rows = await digestsAfter(last);
    for (const { digest } of rows) hash.update(digest);
    const end = rows.at(-1);
    if (!end) return hash.digest();
    last = end.device;
  }
}

/** At a helper: a hash over the reports that it has counted in a window. */
export function hashOfHelperReports(database: Queryable, windowId: number): Promise<Uint8Array> {
  return hashInOrder((last) =>
    database.query(
      `SELECT device, digest FROM shared_reports WHERE window_id = $1 AND device > $2 ORDER BY device LIMIT ${AT_ONCE}`,
      [windowId, last],
    ),
  );
}

/** At a leader, which stores the reports themselves: the same hash, from digests of them. */
export function hashOfReports(
  database: Queryable,
  windowId: number,
  reportBytes: number,
  digestOf: (report: GroupedReport) => Uint8Array,
): Promise<Uint8Array> {
  const atOnce = Math.max(1, Math.min(AT_ONCE, Math.floor(MOST_BYTES_AT_ONCE / reportBytes)));
  return hashInOrder(async (last) => {
    const rows = await database.query<GroupedReport>(
      `SELECT device, body, (SELECT group_number FROM devices WHERE devices.device = reports.device) AS "group"
       FROM reports WHERE window_id = $1 AND device > $2 ORDER BY device LIMIT ${atOnce}`,
      [windowId, last],
    );
    return rows.map((report) => ({ device: report.device, digest: digestOf(report) }));
  });
}
