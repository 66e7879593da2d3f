import { rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { unownedFolder } from "../../test/folder.ts";
import { createStore, type Store } from "../../test/store.ts";
import type { Database } from "./database.ts";

const folder = unownedFolder();
let store: Store;
let database: Database;
beforeAll(async () => {
  store = await createStore(folder);
  database = await store.open();
  await database.query("CREATE TABLE things (id bigint PRIMARY KEY, what bytea, seen boolean, label text)");
});
afterAll(async () => {
  await database.close();
  await store.remove();
  rmSync(folder, { recursive: true });
});

const echo = "SELECT $1::bytea AS bytes, $2::boolean AS yes, $3::int AS small, $4::bigint AS large, $5::text AS text";

describe("values", () => {
  it.each([0, 1, 255, 70_000, 1_000_000])("come back as they went, with %i bytes", async (length) => {
    const bytes = Uint8Array.from({ length }, (_, i) => (i * 7) ^ (i >> 8));
    const text = "Grüße, 世界\n'; --";
    const values = [bytes, true, -(2 ** 31), Number.MAX_SAFE_INTEGER, text];
    const [{ bytes: back, ...rest } = { bytes: new Uint8Array() }] = await database.query<{ bytes: Uint8Array }>(
      echo,
      values,
    );
    // Quicker than `toEqual`, which takes seconds for a million bytes.
    expect([back.constructor, Buffer.compare(back, bytes)]).toEqual([Uint8Array, 0]);
    expect(rest).toEqual({ yes: true, small: -(2 ** 31), large: Number.MAX_SAFE_INTEGER, text });
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

const insert = "INSERT INTO things (id, what) VALUES ($1, $2) RETURNING id";

/** Which of these are there. */
async function found(...ids: readonly number[]): Promise<number[]> {
  const from = "FROM things WHERE id BETWEEN $1 AND $2 ORDER BY id";
  const rows = await database.query<{ id: number }>(`SELECT id ${from}`, [Math.min(...ids), Math.max(...ids)]);
  return rows.map(({ id }) => id);
}

describe("a statement that is refused", () => {
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
    expect(await found(10)).toEqual([]);
  });

  it("fails alone among many that are asked at once", async () => {
    const divisors = Array.from({ length: 60 }, (_, i) => i % 7);
    const answers = await Promise.allSettled(
      divisors.map((divisor) => database.query("SELECT 420 / $1::int AS n", [divisor])),
    );
    for (const [i, divisor] of divisors.entries()) {
      if (divisor > 0) expect(answers[i]).toEqual({ status: "fulfilled", value: [{ n: 420 / divisor }] });
      else expect(answers[i]).toMatchObject({ status: "rejected", reason: { message: /division by zero/ } });
    }
  });
});

it("a statement outlives a change of its table", async () => {
  const count = "SELECT count(*) AS n FROM things WHERE id >= $1";
  await database.query(count, [100]);
  await database.query("ALTER TABLE things ADD COLUMN more text");
  await database.query("INSERT INTO things (id) VALUES ($1)", [100]);
  expect(await database.query(count, [100])).toEqual([{ n: 1 }]);
});

it("statements asked at once are all answered, each with its own answer", async () => {
  // Of few texts and of many, quick and slow, with values and without.
  const asked = Array.from({ length: 300 }, (_, i) => {
    if (i % 3 === 0) return database.query(`SELECT ${i} AS n`);
    if (i % 3 === 1) return database.query(`SELECT $1::int + ${i % 50} AS n`, [i - (i % 50)]);
    return database.query("SELECT $1::int AS n FROM pg_sleep($2::int / 1000.0)", [i, i % 5]);
  });
  expect(await Promise.all(asked)).toEqual(asked.map((_, i) => [{ n: i }]));
});

describe("while a transaction runs", () => {
  it("others see nothing of it, or all", async () => {
    let looked: Promise<number[]> | undefined;
    await database.transaction(async (transaction) => {
      await transaction.query(insert, [200, null]);
      looked = found(200, 201);
      await sleep(50);
      await transaction.query(insert, [201, null]);
    });
    expect([[], [200, 201]]).toContainEqual(await looked);
    expect(await found(200, 201)).toEqual([200, 201]);
  });

  it("what others write stays, though it fails", async () => {
    let written: Promise<unknown> | undefined;
    const failing = database.transaction(async (transaction) => {
      await transaction.query(insert, [210, null]);
      written = database.query(insert, [211, null]);
      await sleep(50);
      throw new RangeError("enough");
    });
    await expect(failing).rejects.toThrow(new RangeError("enough"));
    expect(await written).toEqual([{ id: 211 }]);
    expect(await found(210, 211)).toEqual([211]);
  });

  it("another that needs the same row waits for it: of many at once each adds to what the one before left", async () => {
    await database.query("INSERT INTO things (id, label) VALUES (220, '0')");
    const add = (): Promise<void> =>
      database.transaction(async (transaction) => {
        const [row] = await transaction.query<{ label: string }>("SELECT label FROM things WHERE id = 220 FOR UPDATE");
        await transaction.query("UPDATE things SET label = $1 WHERE id = 220", [String(Number(row?.label) + 1)]);
      });
    await Promise.all(Array.from({ length: 40 }, add));
    expect(await database.query("SELECT label FROM things WHERE id = 220")).toEqual([{ label: "40" }]);
  });
});

it("closed, it answers no more; what was committed is there when it is opened again", async () => {
  await database.query(insert, [300, null]);
  await database.close();
  await expect(database.query("SELECT 1")).rejects.toThrow();
  await expect(database.transaction(async () => undefined)).rejects.toThrow();
  database = await store.open();
  expect(await found(300)).toEqual([300]);
});
