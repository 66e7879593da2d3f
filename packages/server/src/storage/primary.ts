import { LetheError } from "@lethe/core/error";
import { Pool, type PoolClient, type PoolConfig } from "pg";
import { DatabaseUnavailable } from "./database.ts";
import type { Host } from "./database-url.ts";

/** Connections to whichever of a database's servers accepts writes. */
export interface Primary {
  /** A connection; the caller releases it. Throws `DatabaseUnavailable` if no server can be used now. */
  connect(): Promise<PoolClient>;
  /** Called when a statement takes long: asks the other hosts, and cuts it off if one of them is the primary now. */
  lookElsewhere(): Promise<void>;
  close(): Promise<void>;
}

interface Server extends Host {
  readonly pool: Pool;
  readonly clients: Set<PoolClient>;
}

/**
 * Each host has its own connections; `configOf` gives their settings, whose `onConnect` refuses a server that is not the
 * primary. The host that was the primary last is asked first, then the others in turn. When another one turns out to be
 * the primary, all connections to the former one are cut: what still waits there may wait for ever.
 */
export function createPrimary(hosts: readonly Host[], configOf: (url: string) => PoolConfig): Primary {
  const servers = hosts.map((host) => startServer(host, configOf(host.url)));
  let current = 0;

  /** Asks the current host, unless told to begin with a later one, then the others in turn. */
  async function connect(skipped = 0): Promise<PoolClient> {
    const first = current;
    const failures: Failure[] = [];
    for (let i = skipped; i < servers.length; i++) {
      const place = (first + i) % servers.length;
      const server = servers[place] as Server;
      try {
        const client = await server.pool.connect();
        // Unless somebody else has found it meanwhile.
        if (current === first && place !== first) {
          current = place;
          cutOff(servers[first] as Server);
        }
        return client;
      } catch (error) {
        failures.push({ host: server.name, error });
      }
    }
    throw noPrimary(failures);
  }

  return {
    connect: () => connect(),
    lookElsewhere: async () => {
      if (servers.length === 1) return;
      // As a rule the statement takes long for another reason, and nobody else is the primary.
      await connect(1).then(
        (client) => client.release(),
        () => undefined,
      );
    },
    close: async () => {
      await Promise.all(servers.map(({ pool }) => pool.end()));
    },
  };
}

function startServer(host: Host, config: PoolConfig): Server {
  const pool = new Pool(config);
  const clients = new Set<PoolClient>();
  pool.on("connect", (client) => clients.add(client));
  pool.on("remove", (client) => clients.delete(client));
  // A connection that breaks while nobody uses it is replaced by the next who asks.
  pool.on("error", () => undefined);
  return { ...host, pool, clients };
}

/** Statements under way fail as on a broken connection. */
function cutOff({ clients }: Server): void {
  for (const client of clients) void client.end();
}

interface Failure {
  readonly host: string;
  readonly error: unknown;
}

/** A server that would do but for its settings tells more than standbys that refuse writes as they should. */
function noPrimary(failures: readonly Failure[]): DatabaseUnavailable {
  const refused = failures.find(({ error }) => error instanceof LetheError);
  if (refused) return unavailable(refused.error);
  const [only] = failures;
  if (only && failures.length === 1) return unavailable(only.error);
  const reasons = failures.map(({ host, error }) => `${host}: ${unavailable(error).message}`);
  return new DatabaseUnavailable(`no host is a primary that can be used: ${reasons.join("; ")}`);
}

/** A failure of a connection. */
export function unavailable(error: unknown): DatabaseUnavailable {
  if (error instanceof DatabaseUnavailable) return error;
  // Several, if the host has several addresses.
  const [first] = (error instanceof AggregateError ? error.errors : [error]) as unknown[];
  return new DatabaseUnavailable(first instanceof Error ? first.message : String(first), { cause: error });
}
