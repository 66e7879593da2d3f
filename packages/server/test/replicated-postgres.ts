import { startForwarder } from "./forwarder.ts";
import { startPostgres } from "./postgres.ts";

/** A PostgreSQL with a synchronous standby, behind an address that stays when the one takes over from the other. */
export interface ReplicatedPostgres {
  /** Of an empty database. */
  readonly url: string;
  restart(how: "fast" | "kill"): Promise<void>;
  /** Kills the primary for good; the standby takes its place, and has none itself. */
  failOver(): Promise<void>;
  remove(): Promise<void>;
}

export async function startReplicatedPostgres(): Promise<ReplicatedPostgres> {
  // By default a standby waits 5 s before it connects again.
  const primary = await startPostgres({ settings: { wal_retrieve_retry_interval: "100ms" } });
  const url = new URL(await primary.createDatabase());
  const standby = await primary.addSynchronousStandby();
  let current = primary;
  const forwarder = await startForwarder(() => current.port);
  url.port = String(forwarder.port);
  return {
    url: url.href,
    restart: (how) => current.restart(how),
    failOver: async () => {
      await primary.stop("kill");
      await standby.promote();
      current = standby;
      forwarder.switchNow();
    },
    remove: async () => {
      await forwarder.close();
      await Promise.all([primary.remove(), standby.remove()]);
    },
  };
}
