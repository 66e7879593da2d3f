import { DEVICE_BYTES } from "@lethe/core/message";
import { pack, packedRows, type Queryable } from "./database.ts";

/** The length of a stored hash of an upload token. */
export const TOKEN_HASH_BYTES = 32;

/** A device that enrols. */
export interface NewDevice {
  readonly device: Uint8Array;
  readonly tokenHash: Uint8Array;
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
    `WITH collecting AS (SELECT id, enrolled FROM windows WHERE id = $4 AND state = 'collecting' FOR NO KEY UPDATE),
     added AS (
       INSERT INTO devices (window_id, device, token_hash)
       SELECT id, c1, c2 FROM collecting, ${packedRows(DEVICE_BYTES, TOKEN_HASH_BYTES)} WHERE i < $5 - enrolled
       RETURNING 1),
     enrolled AS (UPDATE windows SET enrolled = enrolled + (SELECT count(*) FROM added) WHERE id = $4)
     SELECT count(*)::int AS added FROM added`,
    [
      devices.length,
      pack(devices.map(({ device }) => device)),
      pack(devices.map(({ tokenHash }) => tokenHash)),
      windowId,
      mostPerWindow,
    ],
  );
  return row?.added ?? 0;
}
