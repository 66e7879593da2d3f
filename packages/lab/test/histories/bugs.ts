import { existsSync, readFileSync, writeFileSync } from "node:fs";
import type { Database, Queryable } from "../../../server/dist/storage/database.js";
import type { Rewriting } from "./database.ts";
import type { SentRequest } from "./network.ts";

/**
 * A mistake that somebody could make in Lethe, planted from outside: in what surrounds the code under test, never in
 * it.
 */
export interface Bug {
  readonly name: string;
  /** What is changed. */
  readonly how: string;
  /** Changes what reaches the database. */
  readonly rewrite?: Rewriting;
  /** Changes the database as a process sees it. */
  readonly wrap?: (database: Database) => Database;
  /** Changes a request; `times` is how often this device has sent its report before. */
  readonly request?: (request: SentRequest, times: number) => SentRequest;
  /** Before a file takes the place of another. */
  readonly beforeReplacing?: (from: string, to: string) => void;
  /** The random bytes of this length are always the same. */
  readonly sameBytes?: number;
  /** The device's store does not sync what it should. */
  readonly isForgetful?: boolean;
  /** An event makes the device write. */
  readonly writesOnEvents?: boolean;
}

/** The text of a function of the service, which shows what a transaction is for. */
const does = (use: unknown, what: string): boolean => String(use).includes(what);

/** The ten bugs of the list in docs/histories.md. */
export const BUGS: readonly Bug[] = [
  {
    name: "an unchecked lease",
    how: "a batch counts as marked, although another process has taken over its lease",
    rewrite: (_process, { sql, values }, execute) => {
      if (!sql.startsWith("DELETE FROM uncounted\n")) return undefined;
      return execute(sql, values).then(() => Array.from({ length: Number(values[0]) }, () => ({})));
    },
  },
  {
    name: "a release without its lock",
    how: "the statements of a release run one by one, without transaction and lock",
    wrap: (database) => ({
      ...database,
      transaction: (use) => (does(use, "addRelease(") ? use(database) : database.transaction(use)),
    }),
  },
  {
    name: "a reused nonce",
    how: "all draws of 12 bytes in a process are equal: AES-GCM seals every version of a tally with one nonce",
    sameBytes: 12,
  },
  {
    name: "a write triggered by an event",
    how: "the device stores its record again whenever something is recorded",
    writesOnEvents: true,
  },
  {
    name: "a token that is not compared",
    how: "a report is stored if its device is enrolled, whatever upload token comes with it",
    rewrite: (_process, { sql, values }, execute) =>
      sql.includes(") = c2") ? execute(sql.replace(") = c2", ") IS NOT NULL"), values) : undefined,
  },
  {
    name: "a retry with fresh bytes",
    how: "a report is sealed again when it is sent again",
    request: (request, times) => {
      if (times === 0) return request;
      const body = request.body.slice();
      body[body.length - 1] = (body.at(-1) ?? 0) ^ times;
      return { ...request, body };
    },
  },
  {
    name: "a window closed twice",
    how: "closing does not look whether the window is closed or released already",
    wrap: (database) => ({
      ...database,
      transaction: (use) =>
        database.transaction((transaction) =>
          use(does(use, "closeInTransaction(") ? alwaysCollecting(transaction) : transaction),
        ),
    }),
  },
  {
    name: "a seal that is not synced",
    how: "the device's store resolves a durable save before it is durable",
    isForgetful: true,
  },
  {
    name: "a share counted at one server only",
    how: "the helper commits that it has a report before it commits the tally with its share",
    rewrite: (_process, { sql, values }, execute) => {
      if (!sql.startsWith("INSERT INTO shared_reports")) return undefined;
      return (async () => {
        const rows = await execute(sql, values);
        await execute("COMMIT", []);
        await execute("BEGIN", []);
        return rows;
      })();
    },
  },
  {
    name: "a secret that is not erased",
    how: "a key file that is replaced keeps the secrets that the new one lacks",
    beforeReplacing: (from, to) => {
      if (!to.endsWith(".keys.json") || !existsSync(to)) return;
      const [next, before] = [from, to].map((path) => JSON.parse(readFileSync(path, "utf8")) as KeyFileContent);
      writeFileSync(from, JSON.stringify({ ...next, windows: { ...before?.windows, ...next?.windows } }));
    },
  },
];

interface KeyFileContent {
  readonly windows: Readonly<Record<string, string>>;
}

function alwaysCollecting(transaction: Queryable): Queryable {
  return {
    query: async <Row>(sql: string, values?: Parameters<Queryable["query"]>[1]) => {
      const rows = await transaction.query<Row>(sql, values);
      return rows.map((row) => ("state" in (row as object) ? { ...row, state: "collecting" } : row));
    },
  };
}
