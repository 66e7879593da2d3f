import type { Queryable } from "./database.ts";

/** The last moment at which a process knew the time: what its machine's clocks showed, in seconds. */
export interface ClockMark {
  /** Since 1970. */
  readonly wall: number;
  /** Since the machine started that `boot` names, without and with the time that it slept. */
  readonly monotonic: number;
  readonly uptime: number;
  /** Null where the system has no name for it. */
  readonly boot: string | null;
}

/** The stored mark; undefined if no process has stored one. */
export async function findClockMark(database: Queryable): Promise<ClockMark | undefined> {
  const [row] = await database.query<ClockMark>("SELECT wall, monotonic, uptime, boot FROM clock");
  return row;
}

/** Stores a mark. The stored time never goes back, unless it is `reset`. */
export async function storeClockMark(
  database: Queryable,
  { wall, monotonic, uptime, boot }: ClockMark,
  reset: boolean,
): Promise<void> {
  await database.query(
    `INSERT INTO clock (wall, monotonic, uptime, boot) VALUES ($1, $2, $3, $4)
     ON CONFLICT (one) DO UPDATE
     SET wall = excluded.wall, monotonic = excluded.monotonic, uptime = excluded.uptime, boot = excluded.boot
     WHERE $5 OR clock.wall < excluded.wall`,
    [wall, monotonic, uptime, boot, reset],
  );
}

/** The database server's own clock, seconds since 1970. */
export async function databaseTime(database: Queryable): Promise<number> {
  const [row] = await database.query<{ now: number }>("SELECT extract(epoch FROM clock_timestamp())::float8 AS now");
  return (row as { now: number }).now;
}
