import type { Queryable } from "./database.ts";

/** A published outcome that the webhook's receiver does not have yet. */
export interface Delivery {
  /** The same for every attempt, so that a receiver can tell a repetition. */
  readonly id: string;
  readonly task: string;
  readonly window: number;
  /** As it was published. */
  readonly document: string;
  /** How often it was attempted, this time included. */
  readonly attempts: number;
}

/** How many outcomes wait at most; then the oldest are dropped. */
const MOST_DELIVERIES = 10_000;
/** Longer than any pause of a service whose operator still wants the deliveries. */
const WANTED_DAYS = 30;

/**
 * For the next 30 days every outcome that any process publishes is queued, whether a process with a webhook runs or
 * not. A running webhook says so again and again: if an operator has given it up, the queue does not grow for ever.
 */
export async function wantDeliveries(database: Queryable): Promise<void> {
  await database.query(
    `INSERT INTO webhook (wanted_until) VALUES (clock_timestamp() + make_interval(days => $1))
     ON CONFLICT (one) DO UPDATE SET wanted_until = excluded.wanted_until`,
    [WANTED_DAYS],
  );
}

/**
 * Queues an outcome, in the transaction that publishes it, if outcomes are to be delivered. If more than `most` wait,
 * the oldest are dropped and counted: a receiver that is gone for ever must not fill the database.
 */
export async function queueDelivery(
  transaction: Queryable,
  name: string,
  number: number,
  most: number = MOST_DELIVERIES,
): Promise<void> {
  await transaction.query(
    `INSERT INTO deliveries (name, number)
     SELECT $1::text, $2::bigint FROM webhook WHERE wanted_until > clock_timestamp()`,
    [name, number],
  );
  // Rows that another process is posting or dropping are left to it.
  await transaction.query(
    `WITH dropped AS (
       DELETE FROM deliveries WHERE place IN (
         SELECT place FROM deliveries ORDER BY place DESC OFFSET $1 FOR UPDATE SKIP LOCKED)
       RETURNING place)
     UPDATE webhook SET dropped = webhook.dropped + (SELECT count(*) FROM dropped) WHERE EXISTS (SELECT FROM dropped)`,
    [most],
  );
}

/**
 * Takes an outcome that is due, one that was attempted least. No other process gets it for this many seconds. Outcomes
 * stay in the queue until `removeDelivery`: if this process dies, another attempts them again.
 */
export async function takeDelivery(database: Queryable, seconds: number): Promise<Delivery | undefined> {
  const [taken] = await database.query<Delivery>(
    `UPDATE deliveries SET attempts = attempts + 1, due = clock_timestamp() + make_interval(secs => $1)
     FROM releases
     WHERE place = (SELECT place FROM deliveries WHERE due <= clock_timestamp() ORDER BY attempts, place LIMIT 1
                    FOR UPDATE SKIP LOCKED)
       AND releases.name = deliveries.name AND releases.number = deliveries.number
     RETURNING id, deliveries.name AS task, deliveries.number AS window, document, attempts`,
    [seconds],
  );
  return taken;
}

/** The receiver did not take it: it is due again after this many seconds. */
export async function postponeDelivery(database: Queryable, { id }: Delivery, seconds: number): Promise<void> {
  await database.query(
    "UPDATE deliveries SET due = clock_timestamp() + make_interval(secs => $2) WHERE id = $1::uuid",
    [id, seconds],
  );
}

/** The receiver has it. */
export async function removeDelivery(database: Queryable, { id }: Delivery): Promise<void> {
  await database.query("DELETE FROM deliveries WHERE id = $1::uuid", [id]);
}

/** How many outcomes are published and not delivered, and how many were dropped because too many waited. */
export async function countDeliveries(
  database: Queryable,
): Promise<{ readonly deliveries: number; readonly dropped: number }> {
  const [row] = await database.query<{ waiting: number; dropped: number }>(
    `SELECT (SELECT count(*) FROM deliveries) AS waiting,
            coalesce((SELECT dropped FROM webhook), 0)::bigint AS dropped`,
  );
  return { deliveries: row?.waiting ?? 0, dropped: row?.dropped ?? 0 };
}
