import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openPglite } from "../../dist/storage/pglite.js";
import type { Database } from "./database.ts";

const folder = mkdtempSync(join(tmpdir(), "lethe-pglite-"));
let database: Database;
beforeAll(async () => {
  database = await openPglite(join(folder, "database"));
  await database.query("CREATE TABLE things (id bigint PRIMARY KEY, what bytea, seen boolean, label text)");
});
afterAll(async () => {
  await database.close();
  rmSync(folder, { recursive: true });
});

const echo = "SELECT $1::bytea AS bytes, $2::boolean AS yes, $3::int AS small, $4::bigint AS large, $5::text AS text";

describe("values", () => {
  it.each([0, 1, 255, 70_000, 1_000_000])("come back as they went, with %i bytes", async (length) => {
    const bytes = Uint8Array.from({ length }, (_, i) => (i * 7) ^ (i >> 8));
    const text = "Grüße, 世界\n'; --";
    expect(await database.query(echo, [bytes, true, -(2 ** 31), Number.MAX_SAFE_INTEGER, text])).toEqual([
      { bytes, yes: true, small: -(2 ** 31), large: Number.MAX_SAFE_INTEGER, text },
    ]);
  });

  it("may be missing", async () => {
    const row = { bytes: null, yes: null, small: null, large: null, text: null };
    expect(await database.query(echo, [null, null, null, null, null])).toEqual([row]);
  });

  it("that JavaScript cannot hold are refused, not rounded", async () => {
    await expect(database.query("SELECT $1::bigint AS n", ["9007199254740993"])).rejects.toThrow("too large");
    expect(await database.query("SELECT $1::bigint AS n", [5])).toEqual([{ n: 5 }]);
  });
});

describe("a statement that is refused", () => {
  const insert = "INSERT INTO things (id, what) VALUES ($1, $2) RETURNING id";

  it("says why, and can be asked again", async () => {
    const bytes = Uint8Array.of(1);
    expect(await database.query(insert, [1, bytes])).toEqual([{ id: 1 }]);
    await expect(database.query(insert, [1, bytes])).rejects.toThrow("duplicate key value");
    expect(await database.query(insert, [2, bytes])).toEqual([{ id: 2 }]);
  });

  it("that cannot be read is refused each time, and spoils no other", async () => {
    for (let i = 0; i < 2; i++) {
      await expect(database.query("SELEC $1", [1])).rejects.toThrow("syntax error");
      expect(await database.query("SELECT $1::int AS n", [i])).toEqual([{ n: i }]);
    }
  });

  it("takes its transaction with it", async () => {
    const both = database.transaction(async (transaction) => {
      await transaction.query(insert, [10, null]);
      await transaction.query(insert, [10, null]);
    });
    await expect(both).rejects.toThrow("duplicate key value");
    expect(await database.query("SELECT id FROM things WHERE id = $1", [10])).toEqual([]);
  });
});

it("a statement outlives a change of its table", async () => {
  const count = "SELECT count(*) AS n FROM things WHERE id >= $1";
  await database.query(count, [100]);
  await database.query("ALTER TABLE things ADD COLUMN more text");
  await database.query("INSERT INTO things (id) VALUES ($1)", [100]);
  expect(await database.query(count, [100])).toEqual([{ n: 1 }]);
});
