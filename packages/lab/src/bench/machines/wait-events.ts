import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";

/** What the statements of the service were waiting for, in samples. */
export interface WaitSamples {
  /** Statements that were being executed when a sample was taken. */
  readonly statements: number;
  /** Of these, how many waited for a row that another transaction had locked. */
  readonly rowLocks: number;
}

const EVERY_MS = 20;

/** Row locks show up as a wait for the transaction that holds one, or for the turn to wait for it. */
const SAMPLE = `SELECT count(*)::int AS statements,
    (count(*) FILTER (WHERE wait_event_type = 'Lock' AND wait_event IN ('transactionid', 'tuple')))::int AS "rowLocks"
  FROM pg_stat_activity WHERE application_name = 'lethe' AND state = 'active'`;

/** Samples the wait events of these PostgreSQL servers until `stop`, fifty times per second. */
export async function watchWaits(urls: readonly string[]): Promise<{ stop(): Promise<WaitSamples> }> {
  const clients = urls.map((connectionString) => new Client({ connectionString }));
  // A server that ends takes its connections with it: then there is nothing to watch.
  for (const client of clients) client.on("error", () => undefined);
  await Promise.all(clients.map((client) => client.connect()));
  const total = { statements: 0, rowLocks: 0 };
  let stopping = false;
  const watch = async (client: Client): Promise<void> => {
    while (!stopping) {
      const { rows } = await client.query<WaitSamples>(SAMPLE);
      total.statements += rows[0]?.statements ?? 0;
      total.rowLocks += rows[0]?.rowLocks ?? 0;
      await sleep(EVERY_MS);
    }
    await client.end();
  };
  const watching = Promise.all(clients.map(watch));
  return {
    stop: async () => {
      stopping = true;
      await watching;
      return total;
    },
  };
}
