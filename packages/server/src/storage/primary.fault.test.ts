import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { DatabaseUnavailable } from "../../dist/storage/database.js";
import { openPostgres, type PostgresOptions } from "../../dist/storage/postgres.js";
import { eventually } from "../../test/eventually.ts";
import { type PostgresServer, startPostgres } from "../../test/postgres.ts";
import { nameOf, query } from "../../test/postgres-databases.ts";
import type { Database } from "./database.ts";

const NOBODY = "127.0.0.1:1";

let primary: PostgresServer;
let standby: PostgresServer;
let url: string;

beforeAll(async () => {
  primary = await startPostgres({ settings: { wal_retrieve_retry_interval: "100ms" } });
  url = await primary.createDatabase();
  standby = await primary.addSynchronousStandby();
});

afterAll(async () => {
  await Promise.all([primary.remove(), standby.remove()]);
});

const addressOf = ({ port }: PostgresServer): string => `127.0.0.1:${port}`;

/** The URL of the database at these hosts. */
function urlAt(...hosts: string[]): string {
  return url.replace(addressOf(primary), hosts.join(","));
}

async function open(where: string, options?: PostgresOptions): Promise<Database> {
  const database = await openPostgres(where, options);
  onTestFinished(database.close);
  return database;
}

/** The port of the server that answers. */
async function portOf(database: Database): Promise<number | undefined> {
  const [row] = await database.query<{ port: number }>("SELECT inet_server_port() AS port");
  return row?.port;
}

describe("of several hosts", () => {
  it("the one that is the primary is used, wherever it is in the list", async () => {
    const hosts = [NOBODY, addressOf(standby), addressOf(primary)];
    for (const order of [hosts, hosts.toReversed()])
      expect(await portOf(await open(urlAt(...order)))).toBe(primary.port);
  });

  it("none may be the primary: the message says why of each, without the password", async () => {
    const refused = open(urlAt(NOBODY, addressOf(standby)));
    const { message } = await refused.then(
      () => new Error("it was opened"),
      (error: Error) => error,
    );
    expect(message).toMatch(
      new RegExp(`${NOBODY}: connect ECONNREFUSED .*; ${addressOf(standby)}: it accepts no writes: it is a standby`),
    );
    expect(message).not.toContain(new URL(url).password);
  });

  it("all must hold the same database: another one is not used when the first is gone", async () => {
    const [first, other] = await Promise.all([startPostgres(), startPostgres()]);
    onTestFinished(async () => void (await Promise.all([first.remove(), other.remove()])));
    // Their passwords differ.
    await query(other.url, `ALTER ROLE postgres PASSWORD '${new URL(first.url).password}'`);
    const database = await open(first.url.replace(addressOf(first), `${addressOf(first)},${addressOf(other)}`));
    await first.stop();
    const asked = async (): Promise<unknown> => database.query("SELECT 1").catch((error: unknown) => error);
    await eventually(async () => {
      const error = await asked();
      expect(error).toBeInstanceOf(DatabaseUnavailable);
      return (error as Error).message.includes("do not hold the same database") || undefined;
    });
  });
});

describe("with --require-standby", () => {
  const STRICT = { requireStandby: true };

  it("a database that confirms commits when its standby has them is used, by a user without rights over the server", async () => {
    await query(primary.url, "CREATE ROLE guest LOGIN PASSWORD 'guests-password'");
    const own = await primary.createDatabase();
    await query(primary.url, `ALTER DATABASE ${nameOf(own)} OWNER TO guest`);
    const guest = Object.assign(new URL(own), { username: "guest", password: "guests-password" }).href;
    const both = guest.replace(addressOf(primary), `${addressOf(standby)},${addressOf(primary)}`);
    expect(await portOf(await open(both, STRICT))).toBe(primary.port);
  });

  it.each(["local", "remote_write"])("synchronous_commit = %s is refused", async (setting) => {
    const hasty = await primary.createDatabase();
    await query(primary.url, `ALTER DATABASE ${nameOf(hasty)} SET synchronous_commit = ${setting}`);
    await expectRefused(hasty, `^--require-standby: synchronous_commit is ${setting} in the database`);
  });

  it("no synchronous_standby_names are refused at the start, and when they are emptied later", async () => {
    const database = await open(url, STRICT);
    const [names] = await query(url, "SELECT current_setting('synchronous_standby_names') AS set");
    await setStandbys("");
    await expectRefused(url, "^--require-standby: synchronous_standby_names is empty in the database.*Patroni");
    await eventually(async () => {
      const answer = await database.query("SELECT 1").catch((error: unknown) => error);
      return answer instanceof DatabaseUnavailable || undefined;
    });
    await setStandbys(String(names?.set));
    await eventually(async () => database.query("SELECT 1").catch(() => undefined));
  });

  it("a standby that is away is waited for, and refused at the start if it does not come", async () => {
    await standby.stop();
    await expectRefused(url, "^--require-standby: no standby has confirmed a commit", { queryTimeoutMs: 3000 });
    const opened = open(url, STRICT);
    await standby.start();
    await opened;
  });

  async function expectRefused(where: string, why: string, options?: PostgresOptions): Promise<void> {
    await expect(open(where, { ...STRICT, ...options })).rejects.toMatchObject({
      code: "bad-database",
      message: expect.stringMatching(new RegExp(why)),
    });
  }

  async function setStandbys(names: string): Promise<void> {
    await query(primary.url, `ALTER SYSTEM SET synchronous_standby_names = '${names}'`);
    await query(primary.url, "SELECT pg_reload_conf()");
    const found = "SELECT 1 WHERE current_setting('synchronous_standby_names') = $1";
    await eventually(async () => (await query(primary.url, found, [names]))[0]);
  }
});

it("a commit whose wait for the standby an administrator cancels is not confirmed, whatever messages the user wants", async () => {
  await query(primary.url, `ALTER DATABASE ${nameOf(url)} SET client_min_messages = error`);
  const database = await open(url);
  await standby.stop();
  const written = expect(database.query("CREATE TABLE cancelled ()")).rejects.toThrow(/before the standby had it/);
  const waiting = "FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query LIKE 'CREATE TABLE%'";
  await eventually(async () => (await query(url, `SELECT pg_cancel_backend(pid) ${waiting}`))[0]);
  await written;
  await standby.start();
});

it("when a standby takes over, it is used, and what waits at the former primary fails", async () => {
  // Nothing but the switch ends the statement.
  const queryTimeoutMs = 3_600_000;
  const database = await open(urlAt(addressOf(primary), addressOf(standby)), { queryTimeoutMs });
  const slow = database.query("SELECT 1 FROM pg_sleep($1)", [1000]);
  const cutOff = expect(slow).rejects.toThrow(DatabaseUnavailable);
  await database.query("CREATE TABLE notes (id int PRIMARY KEY)");
  // The primary goes on, but somebody has told it to accept no more writes.
  await query(primary.url, "ALTER SYSTEM SET default_transaction_read_only = on");
  await query(primary.url, "SELECT pg_reload_conf()");
  await standby.promote();
  // Although nobody asks anything else meanwhile.
  await cutOff;
  for (let id = 0; id < 20; id++) {
    expect(await database.query("INSERT INTO notes (id) VALUES ($1) RETURNING id", [id])).toEqual([{ id }]);
  }
  expect(await portOf(database)).toBe(standby.port);
  expect(await database.query("SELECT count(*) AS n FROM notes")).toEqual([{ n: 20 }]);
});
