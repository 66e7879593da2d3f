import { DEVICE_BYTES } from "@lethe/core/message";
import { pack, packedRows, type Queryable } from "./database.ts";
import { inSlice, slicesOf } from "./slices.ts";
import { ENROLLED } from "./window-shards.ts";

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
 * Enrols devices, the first ones of the list if the window has too few places left; returns their number. None if the
 * window has no such shard: it is closed, or `lockShard` must make the shard. One statement, so that it is the whole
 * transaction. Transactions that run at the same time do not see each other's devices: each of them may exceed
 * `mostPerWindow` by the number that the others add.
 */
export async function addDevices(
  database: Queryable,
  windowId: number,
  shard: number,
  mostPerWindow: number,
  devices: readonly NewDevice[],
): Promise<number> {
  const [row] = await database.query<{ added: number }>(
    `WITH collecting AS (
       SELECT window_id AS id FROM window_shards WHERE window_id = $5 AND shard = $7 FOR NO KEY UPDATE),
     added AS (
       INSERT INTO devices (window_id, device, token_hash, group_number)
       SELECT id, c1, c2, get_byte(c3, 0) FROM collecting, ${packedRows(DEVICE_BYTES, TOKEN_HASH_BYTES, 1)}
       WHERE i < $6 - (SELECT ${ENROLLED} FROM windows WHERE windows.id = $5) RETURNING 1),
     enrolled AS (
       UPDATE window_shards SET enrolled = enrolled + (SELECT count(*) FROM added) WHERE window_id = $5 AND shard = $7)
     SELECT count(*)::int AS added FROM added`,
    [
      devices.length,
      pack(devices.map(({ device }) => device)),
      pack(devices.map(({ tokenHash }) => tokenHash)),
      Uint8Array.from(devices, ({ group }) => group),
      windowId,
      mostPerWindow,
      shard,
    ],
  );
  return row?.added ?? 0;
}

/**
 * How many devices of each of `groups` groups are enrolled in a window, which has `enrolled` together. It reads all
 * devices: for closed windows.
 */
export async function countEnrolled(
  database: Queryable,
  windowId: number,
  groups: number,
  enrolled: number,
): Promise<number[]> {
  const devices = new Array<number>(groups).fill(0);
  for (const slice of slicesOf(enrolled)) {
    const { condition, values } = inSlice(slice, 2);
    const rows = await database.query<{ group: number; devices: number }>(
      `SELECT group_number AS "group", count(*) AS devices FROM devices
       WHERE window_id = $1 AND ${condition} GROUP BY group_number`,
      [windowId, ...values],
    );
    for (const row of rows) if (row.group < groups) devices[row.group] = (devices[row.group] ?? 0) + row.devices;
  }
  return devices;
}
