import { DEVICE_BYTES, SIGNATURE_BYTES } from "@lethe/core/message";
import { pack, packedRows, type Queryable } from "./database.ts";

/** An entry of the pool: a device id with keys, which no device has yet. */
export interface SpareDevice {
  readonly device: Uint8Array;
  readonly publicKeys: Uint8Array;
  readonly signature: Uint8Array;
}

/** The length of a stored hash of an upload token. */
export const TOKEN_HASH_BYTES = 32;

/**
 * Adds entries to the pool, but none if the window is closed: another process may have released and erased it
 * meanwhile.
 */
export async function addSpareDevices(
  database: Queryable,
  windowId: number,
  spares: readonly SpareDevice[],
): Promise<void> {
  const width = spares[0]?.publicKeys.length;
  if (width === undefined) return;
  await database.query(
    `INSERT INTO devices (window_id, device, public_keys, signature)
     SELECT id, c1, c2, c3 FROM windows, ${packedRows(DEVICE_BYTES, width, SIGNATURE_BYTES)}
     WHERE id = $5 AND state = 'collecting'`,
    [
      spares.length,
      pack(spares.map(({ device }) => device)),
      pack(spares.map(({ publicKeys }) => publicKeys)),
      pack(spares.map(({ signature }) => signature)),
      windowId,
    ],
  );
}

/** How many entries the pool of a window has. */
export async function countSpareDevices(database: Queryable, windowId: number): Promise<number> {
  const [row] = await database.query<{ spare: number }>(
    "SELECT count(*) AS spare FROM devices WHERE window_id = $1 AND token_hash IS NULL",
    [windowId],
  );
  return row?.spare ?? 0;
}

/** How many devices of each of `groups` groups are enrolled in a window. It reads all devices: for closed windows. */
export async function countEnrolled(database: Queryable, windowId: number, groups: number): Promise<number[]> {
  const rows = await database.query<{ group: number; devices: number }>(
    `SELECT group_number AS "group", count(*) AS devices FROM devices
     WHERE window_id = $1 AND token_hash IS NOT NULL GROUP BY group_number`,
    [windowId],
  );
  const devices = new Map(rows.map((row) => [row.group, row.devices]));
  return Array.from({ length: groups }, (_, group) => devices.get(group) ?? 0);
}

/** Up to `most` spare devices, locked: no other transaction gives them to a device. */
export function lockSpareDevices(transaction: Queryable, windowId: number, most: number): Promise<SpareDevice[]> {
  return transaction.query<SpareDevice>(
    `SELECT device, public_keys AS "publicKeys", signature FROM devices
     WHERE window_id = $1 AND token_hash IS NULL LIMIT $2 FOR UPDATE SKIP LOCKED`,
    [windowId, most],
  );
}

/** An entry of the pool that gets an owner. */
export interface TakenDevice {
  readonly device: Uint8Array;
  readonly tokenHash: Uint8Array;
  /** The place of the owner's group among those of the task; 0 if the task has no groups. */
  readonly group: number;
}

/** Notes that these entries have an owner each. Their keys are deleted, because only the owner needs them. */
export async function handOutDevices(
  transaction: Queryable,
  windowId: number,
  taken: readonly TakenDevice[],
): Promise<void> {
  if (taken.length === 0) return;
  await transaction.query(
    `UPDATE devices SET token_hash = c2, group_number = get_byte(c3, 0), public_keys = NULL, signature = NULL
     FROM ${packedRows(DEVICE_BYTES, TOKEN_HASH_BYTES, 1)} WHERE device = c1`,
    [
      taken.length,
      pack(taken.map(({ device }) => device)),
      pack(taken.map(({ tokenHash }) => tokenHash)),
      Uint8Array.from(taken, ({ group }) => group),
    ],
  );
  await transaction.query("UPDATE windows SET enrolled = enrolled + $2 WHERE id = $1", [windowId, taken.length]);
}
