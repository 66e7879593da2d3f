import { inspect } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { DatabaseUnavailable } from "../../dist/storage/database.js";
import { openPostgres } from "../../dist/storage/postgres.js";
import { eventually } from "../../test/eventually.ts";
import { type PostgresServer, startPostgres } from "../../test/postgres.ts";
import { nameOf, query } from "../../test/postgres-databases.ts";
import type { Database } from "./database.ts";

let server: PostgresServer;
let url: string;
const opened: Database[] = [];

beforeAll(async () => {
  server = await startPostgres();
  url = await server.createDatabase();
});

afterEach(async () => {
  for (const database of opened.splice(0)) await database.close();
});

afterAll(() => server.remove());

async function open(where = url): Promise<Database> {
  const database = await openPostgres(where);
  opened.push(database);
  return database;
}

/** The same URL, but for some parts. */
function urlWith(parts: Partial<Pick<URL, "username" | "password" | "port" | "pathname">>): string {
  return Object.assign(new URL(url), parts).href;
}

/** In one line, which does not give away the password, or anything else that was given as URL. */
async function expectRefused(where: string, why: RegExp): Promise<void> {
  const error: unknown = await open(where).catch((thrown) => thrown);
  expect(error).toMatchObject({ name: "LetheError", code: "bad-database", message: expect.stringMatching(why) });
  expect((error as Error).message).not.toContain("\n");
  const told = inspect(error, { depth: 9, showHidden: true });
  if (where !== "") expect(told).not.toContain(where);
  const password = URL.canParse(where) ? new URL(where).password : "sesame";
  if (password !== "") for (const form of [password, decoded(password)]) expect(told).not.toContain(form);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

describe("a database is refused", () => {
  it.each([
    "",
    "localhost",
    "sesame",
    "user:sesame@localhost/lethe",
    "postgres//user:sesame@localhost/lethe",
    "postgres://user:sesame@localhost:port/lethe",
    "mysql://user:sesame@localhost/lethe",
    "http://user:sesame@localhost/lethe",
  ])("if the URL is none of PostgreSQL: %j", async (where) => {
    await expectRefused(where, /DATABASE_URL is like postgres:\/\//);
  });

  it("if its password has a percent sign that is not written as %25", async () => {
    await expectRefused(url.replace(/:[^:@]+@/, ":100%sesame@"), /DATABASE_URL/);
  });

  it("if the password is wrong, or missing", async () => {
    await expectRefused(urlWith({ password: "open-sesame" }), /password/);
    await expectRefused(urlWith({ password: "" }), /password/i);
  });

  it("if nobody listens there", async () => {
    await expectRefused(urlWith({ port: "1" }), /ECONNREFUSED.*is it running/);
  });

  it("if there is no such database, or no such user", async () => {
    await expectRefused(urlWith({ pathname: "nowhere" }), /"nowhere" does not exist/);
    await expectRefused(urlWith({ username: "nobody" }), /"nobody"/);
  });

  it("if commits need not be on disk", async () => {
    const hasty = await server.createDatabase();
    await query(server.url, `ALTER DATABASE ${nameOf(hasty)} SET synchronous_commit = off`);
    await expectRefused(hasty, /synchronous_commit is off/);
  });

  it("if the server is too old", async () => {
    const old = await server.createDatabase();
    await query(old, "CREATE SCHEMA pretence");
    await query(
      old,
      `CREATE FUNCTION pretence.current_setting(name text) RETURNS text LANGUAGE sql AS
       $$ SELECT CASE name WHEN 'server_version_num' THEN '130014' ELSE pg_catalog.current_setting(name) END $$`,
    );
    await query(server.url, `ALTER DATABASE ${nameOf(old)} SET search_path = pretence, pg_catalog`);
    await expectRefused(old, /PostgreSQL 14 or later is needed, not 13/);
  });

  it("if the user may not create tables in it", async () => {
    await query(server.url, "CREATE ROLE guest LOGIN PASSWORD 'guests-password'");
    await expectRefused(
      urlWith({ username: "guest", password: "guests-password" }),
      /permission denied.*create tables/,
    );
  });

  it("if a newer version made it", async () => {
    const newer = await server.createDatabase();
    await (await openPostgres(newer)).close();
    await query(newer, "INSERT INTO lethe_schema (step) VALUES (99)");
    await expectRefused(newer, /newer version of Lethe \(schema 99, .* up to \d+\)/);
  });
});

it("many that open an empty database at once make its tables once", async () => {
  const empty = await server.createDatabase();
  const databases = await Promise.all(Array.from({ length: 8 }, () => open(empty)));
  for (const database of databases) {
    expect(await database.query("SELECT count(*) AS n FROM tasks")).toEqual([{ n: 0 }]);
  }
  const [steps] = await query(empty, "SELECT array_agg(step ORDER BY step) AS steps FROM lethe_schema");
  expect(steps).toEqual({ steps: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13] });
});

it("transactions that wait for each other are both done in the end, each once", async () => {
  const database = await open();
  await database.query("CREATE TABLE sums (id int PRIMARY KEY, sum int NOT NULL)");
  await database.query("INSERT INTO sums (id, sum) VALUES (1, 0), (2, 0)");
  const arrived: (() => void)[] = [];
  const untilBothHaveOne = (): Promise<void> =>
    new Promise((resolve) => {
      arrived.push(resolve);
      if (arrived.length >= 2) for (const goOn of arrived) goOn();
    });
  const addTo = (first: number, second: number): Promise<void> =>
    database.transaction(async (transaction) => {
      const add = "UPDATE sums SET sum = sum + 1 WHERE id = $1";
      await transaction.query(add, [first]);
      await untilBothHaveOne();
      await transaction.query(add, [second]);
    });
  await Promise.all([addTo(1, 2), addTo(2, 1)]);
  // The transaction that was rolled back may come back before the other goes on: then they wait for each other once
  // more.
  expect(arrived.length).toBeGreaterThan(2);
  expect(await database.query("SELECT sum FROM sums")).toEqual([{ sum: 2 }, { sum: 2 }]);
});

it("a server that falls silent is given up, and asked again over a new connection", async () => {
  // Long enough for a busy server to answer what comes after it.
  const database = await openPostgres(url, { queryTimeoutMs: 3000 });
  opened.push(database);
  await expect(database.query("SELECT 1 FROM pg_sleep($1)", [100])).rejects.toThrow(DatabaseUnavailable);
  expect(await database.query("SELECT $1::int AS n", [1])).toEqual([{ n: 1 }]);
});

describe.each(["kill", "fast"] as const)("when the server goes away (%s)", (how) => {
  beforeAll(async () => {
    await query(url, "CREATE TABLE IF NOT EXISTS notes (id text PRIMARY KEY)");
  });
  afterEach(() => server.restart(how));

  /** Until the server runs such a statement. */
  async function untilAsked(text: string): Promise<void> {
    await eventually(async () => {
      const running = "SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND position($1 in query) = 1";
      return (await query(url, running, [text]))[0];
    });
  }

  it("in the midst of statements, they and those after it fail as unavailable, until it is back", async () => {
    const database = await open();
    const asked = Array.from({ length: 12 }, () => database.query("SELECT 1 FROM pg_sleep($1)", [100]));
    const failed = Promise.allSettled(asked);
    await untilAsked("SELECT 1 FROM pg_sleep");
    await server.stop(how);
    for (const answer of await failed) {
      expect(answer).toMatchObject({ status: "rejected", reason: expect.any(DatabaseUnavailable) });
    }
    await expect(database.query("SELECT $1::int AS n", [1])).rejects.toThrow(DatabaseUnavailable);
    await expect(database.transaction(async () => undefined)).rejects.toThrow(DatabaseUnavailable);
    await server.start();
    const again = Array.from({ length: 12 }, (_, i) => database.query("SELECT $1::int AS n", [i]));
    expect(await Promise.all(again)).toEqual(again.map((_, n) => [{ n }]));
  });

  it("in the midst of a transaction, that fails as unavailable and leaves nothing", async () => {
    const database = await open();
    const id = `${how} in the midst`;
    const write = database.transaction(async (transaction) => {
      await transaction.query("INSERT INTO notes (id) VALUES ($1)", [id]);
      await server.stop(how);
      await transaction.query("INSERT INTO notes (id) VALUES ($1)", [`${id}, more`]);
    });
    await expect(write).rejects.toThrow(DatabaseUnavailable);
    await server.start();
    expect(await database.query("SELECT id FROM notes WHERE position($1 in id) = 1", [id])).toEqual([]);
  });

  it("before the commit, nobody gets the answer that it was committed", async () => {
    const database = await open();
    const write = database.transaction(async (transaction) => {
      await transaction.query("INSERT INTO notes (id) VALUES ($1)", [`${how} before the commit`]);
      await server.stop(how);
    });
    await expect(write).rejects.toThrow(DatabaseUnavailable);
    await server.start();
    expect(await database.query("SELECT id FROM notes")).not.toContainEqual({ id: `${how} before the commit` });
  });

  it("what was committed before is still there, and connections that nobody used are replaced", async () => {
    const database = await open();
    const id = `${how} committed`;
    await Promise.all([database.query("INSERT INTO notes (id) VALUES ($1)", [id]), database.query("SELECT 1")]);
    await server.stop(how);
    await server.start();
    expect(await database.query("SELECT id FROM notes WHERE id = $1", [id])).toEqual([{ id }]);
  });

  it("it can still be closed", async () => {
    const closing = await openPostgres(url);
    await server.stop(how);
    await closing.close();
  });
});
