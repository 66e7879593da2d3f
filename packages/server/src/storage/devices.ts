import { DEVICE_BYTES } from "@lethe/core/message";
import { pack, packedRows, type Queryable } from "./database.ts";

/** The length of a stored hash of an upload token. */
export const TOKEN_HASH_BYTES = 32;

/** A device that enrols. */
export interface NewDevice {
  readonly device: Uint8Array;
  readonly tokenHash: Uint8Array;
  /** The place of its group among those of the task; 0 if the task has no groups. */
  readonly group: number;
}

/**
 * Enrols devices, the first ones of the list if the window has too few places left, and none if it is closed; returns
 * their number. One statement, so that it is the whole transaction: the window's row is locked, in all processes
 * together, only while it runs and commits.
 */
export async function addDevices(
  database: Queryable,
  windowId: number,
  mostPerWindow: number,
  devices: readonly NewDevice[],
): Promise<number> {
  const [row] = await database.query<{ added: number }>(
    `WITH collecting AS (SELECT id, enrolled FROM windows WHERE id = $5 AND state = 'collecting' FOR NO KEY UPDATE),
     added AS (
       INSERT INTO devices (window_id, device, token_hash, group_number)
       SELECT id, c1, c2, get_byte(c3, 0) FROM collecting, ${packedRows(DEVICE_BYTES, TOKEN_HASH_BYTES, 1)}
       WHERE i < $6 - enrolled RETURNING 1),
     enrolled AS (UPDATE windows SET enrolled = enrolled + (SELECT count(*) FROM added) WHERE id = $5)
     SELECT count(*)::int AS added FROM added`,
    [
      devices.length,
      pack(devices.map(({ device }) => device)),
      pack(devices.map(({ tokenHash }) => tokenHash)),
      Uint8Array.from(devices, ({ group }) => group),
      windowId,
      mostPerWindow,
    ],
  );
  return row?.added ?? 0;
}

/** How many devices of each of `groups` groups are enrolled in a window. It reads all devices: for closed windows. */
export async function countEnrolled(database: Queryable, windowId: number, groups: number): Promise<number[]> {
  const rows = await database.query<{ group: number; devices: number }>(
    `SELECT group_number AS "group", count(*) AS devices FROM devices
     WHERE window_id = $1 GROUP BY group_number`,
    [windowId],
  );
  const devices = new Map(rows.map((row) => [row.group, row.devices]));
  return Array.from({ length: groups }, (_, group) => devices.get(group) ?? 0);
}
