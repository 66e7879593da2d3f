import { DEVICE_BYTES, SIGNATURE_BYTES } from "@lethe/core/message";
import { type Database, handedOver, pack, type Queryable, unpack } from "./database.ts";

/** An entry of a pool: a device id with keys, which no device has yet. */
export interface SpareDevice {
  readonly device: Uint8Array;
  readonly publicKeys: Uint8Array;
  readonly signature: Uint8Array;
}

/** Entries of a pool as a row holds them: ids, keys and signatures, each packed end to end. */
export interface Bundle {
  readonly devices: Uint8Array;
  readonly publicKeys: Uint8Array;
  readonly signatures: Uint8Array;
}

/** As many entries as one row holds, at most. */
export const KEYS_PER_BUNDLE = 32;

/** How many pools a window has at most. */
const MOST_POOLS = 16;

/** The pool that a process fills if it holds keys, and at which it begins to claim if it is an intake. */
export function poolOf({ shards: { own } }: Pick<Database, "shards">): number {
  return own % MOST_POOLS;
}

/** Packs entries whose keys have the same length. */
export function bundleOf(spares: readonly SpareDevice[]): Bundle {
  return {
    devices: pack(spares.map(({ device }) => device)),
    publicKeys: pack(spares.map(({ publicKeys }) => publicKeys)),
    signatures: pack(spares.map(({ signature }) => signature)),
  };
}

/**
 * Adds a bundle to a pool, but not if the window is closed: another process may have released and erased it meanwhile.
 * The bundle is not usable afterwards.
 */
export async function addSpareKeys(
  database: Queryable,
  windowId: number,
  pool: number,
  { devices, publicKeys, signatures }: Bundle,
): Promise<void> {
  const entries = devices.length / DEVICE_BYTES;
  if (entries === 0) return;
  await database.query(
    `INSERT INTO spare_keys (window_id, pool, entries, devices, public_keys, signatures)
     SELECT id, $6, $2, $3, $4, $5 FROM windows WHERE id = $1 AND state = 'collecting'`,
    [windowId, entries, handedOver(devices), handedOver(publicKeys), handedOver(signatures), pool],
  );
}

/** How many entries the pools of a window have together. */
export async function countSpareKeys(database: Queryable, windowId: number): Promise<number> {
  const [row] = await database.query<{ spare: number }>(
    "SELECT coalesce(sum(entries), 0)::int AS spare FROM spare_keys WHERE window_id = $1",
    [windowId],
  );
  return row?.spare ?? 0;
}

/**
 * Takes up to `most` bundles out of the pools, for good: from the commit on they are this caller's alone. If it dies, or
 * never learns that the commit happened, nobody gets these entries. It begins at one pool and goes on with the next
 * ones, so that callers who begin at different pools do not meet.
 */
export async function claimSpareKeys(
  database: Queryable,
  windowId: number,
  pool: number,
  most: number,
): Promise<SpareDevice[]> {
  const fromHere = await claimFrom(database, windowId, [pool, MOST_POOLS], most);
  if (fromHere.length > 0 || pool === 0) return fromHere;
  return claimFrom(database, windowId, [0, pool - 1], most);
}

async function claimFrom(
  database: Queryable,
  windowId: number,
  [first, last]: readonly [number, number],
  most: number,
): Promise<SpareDevice[]> {
  const bundles = await database.query<Bundle>(
    `WITH free AS MATERIALIZED (
       SELECT pool, id FROM spare_keys WHERE window_id = $1 AND pool BETWEEN $2 AND $3
       ORDER BY pool, id LIMIT $4 FOR UPDATE SKIP LOCKED)
     DELETE FROM spare_keys USING free
     WHERE window_id = $1 AND spare_keys.pool = free.pool AND spare_keys.id = free.id
     RETURNING devices, public_keys AS "publicKeys", signatures`,
    [windowId, first, last, most],
  );
  return bundles.flatMap(({ devices, publicKeys, signatures }) => {
    const ids = unpack(devices, DEVICE_BYTES);
    const keys = unpack(publicKeys, publicKeys.length / ids.length);
    const signed = unpack(signatures, SIGNATURE_BYTES);
    return ids.map((device, i) => ({
      device,
      publicKeys: keys[i] as Uint8Array,
      signature: signed[i] as Uint8Array,
    }));
  });
}
