import type { Queryable } from "./database.ts";

/** A published outcome that this process is to post to the webhook. */
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

/** From now on every outcome that any process publishes is queued, whether a process with a webhook runs or not. */
export async function beginDeliveries(database: Queryable): Promise<void> {
  await database.query("INSERT INTO webhook (one) VALUES ($1) ON CONFLICT DO NOTHING", [true]);
}

/** Queues an outcome, in the transaction that publishes it, if outcomes are to be delivered. */
export async function queueDelivery(transaction: Queryable, name: string, number: number): Promise<void> {
  await transaction.query("INSERT INTO deliveries (name, number) SELECT $1::text, $2::bigint FROM webhook", [
    name,
    number,
  ]);
}

/**
 * Takes an outcome that is due, one that was attempted least. No other process gets it for this many seconds. Outcomes
 * stay in the queue until `removeDelivery`: if this process dies, another attempts them again.
 */
export async function takeDelivery(database: Queryable, seconds: number): Promise<Delivery | undefined> {
  const [taken] = await database.query<Delivery>(
    `UPDATE deliveries SET attempts = attempts + 1, due = clock_timestamp() + make_interval(secs => $1)
     FROM releases
     WHERE id = (SELECT id FROM deliveries WHERE due <= clock_timestamp() ORDER BY attempts, due LIMIT 1
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

/** How many outcomes are published and not delivered. */
export async function countDeliveries(database: Queryable): Promise<number> {
  const [row] = await database.query<{ waiting: number }>("SELECT count(*) AS waiting FROM deliveries");
  return row?.waiting ?? 0;
}
