import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openDataFolder } from "../../dist/storage/data-folder.js";
import { copyEmptyDatabase, temporaryFolder } from "../../test/folder.ts";

async function emptyFolder(): Promise<string> {
  const folder = join(temporaryFolder(), "data");
  await copyEmptyDatabase(folder);
  return folder;
}

/** It is refused with one line that names the folder and says what is the matter; and nothing holds it afterwards. */
async function expectRefused(folder: string, what: RegExp): Promise<void> {
  await expect(openDataFolder(folder)).rejects.toMatchObject({
    name: "LetheError",
    code: "bad-data-folder",
    message: expect.stringMatching(what),
  });
  if (existsSync(join(folder, "lock"))) throw new Error("the lock is still there");
}

it("one process uses a folder at a time, and the next finds what was committed", async () => {
  const folder = await emptyFolder();
  const database = await openDataFolder(folder);
  await expect(openDataFolder(folder)).rejects.toMatchObject({
    code: "bad-data-folder",
    message: expect.stringContaining(`in use by process ${process.pid}`),
  });
  await database.query("INSERT INTO releases (name, number, document) VALUES ('a', 1, 'x')");
  await database.close();
  const again = await openDataFolder(folder);
  expect(await again.query("SELECT document FROM releases")).toEqual([{ document: "x" }]);
  await again.close();
});

it("a transaction that fails leaves nothing, and the connection goes on", async () => {
  const database = await openDataFolder(await emptyFolder());
  const insert = "INSERT INTO releases (name, number, document) VALUES ('a', $1, 'x')";
  const failing = database.transaction(async (transaction) => {
    await transaction.query(insert, [1]);
    await transaction.query(insert, [1]);
  });
  await expect(failing).rejects.toThrow(/unique/);
  await database.transaction((transaction) => transaction.query(insert, [2]));
  expect(await database.query("SELECT number FROM releases")).toEqual([{ number: 2 }]);
  await database.close();
  await expect(database.query("SELECT 1")).rejects.toThrow();
});

it("a folder that a newer version made is refused, naming both versions", async () => {
  const folder = await emptyFolder();
  const database = await openDataFolder(folder);
  await database.query("INSERT INTO lethe_schema (step) VALUES (99)");
  await database.close();
  await expectRefused(folder, /newer version of Lethe \(schema 99, .* up to \d+\)/);
});

it("a folder that holds something else is refused and left as it is", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "thesis.tex"), "years of work");
  mkdirSync(join(folder, "database.new"));
  writeFileSync(join(folder, "database.new", "notes"), "also mine");
  await expectRefused(folder, /thesis\.tex/);
  expect(readdirSync(folder, { recursive: true }).map(String).toSorted()).toEqual([
    "database.new",
    "database.new/notes",
    "thesis.tex",
  ]);
});

it("a folder named database that is none is refused and left as it is", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "database"));
  writeFileSync(join(folder, "database", "customers.csv"), "a,b");
  await expectRefused(folder, /database/);
  expect(readdirSync(join(folder, "database"))).toEqual(["customers.csv"]);
});

it("a file where the folder should be is refused", async () => {
  const path = join(temporaryFolder(), "data");
  writeFileSync(path, "x");
  await expectRefused(path, /data/);
});

it("a first start that was cut off is begun anew", async () => {
  const folder = temporaryFolder();
  await copyEmptyDatabase(folder);
  mkdirSync(join(folder, "database.new"));
  const half = join(folder, "database.new");
  for (const name of ["PG_VERSION", "global", "base"]) {
    const from = join(folder, "database", name);
    if (statSync(from).isFile()) writeFileSync(join(half, name), readFileSync(from));
    else mkdirSync(join(half, name));
  }
  rmSync(join(folder, "database"), { recursive: true });
  const database = await openDataFolder(folder);
  expect(await database.query("SELECT count(*) AS tasks FROM tasks")).toEqual([{ tasks: 0 }]);
  await database.close();
  expect(readdirSync(folder)).toEqual(["database"]);
});

/** The files of all tables of the one database, largest first. */
function tableFiles(folder: string): string[] {
  const base = join(folder, "database", "base");
  const files = readdirSync(base, { recursive: true }).map((name) => join(base, String(name)));
  const tables = files.filter((path) => /\/\d+$/.test(path) && statSync(path).isFile());
  return tables.toSorted((a, b) => statSync(b).size - statSync(a).size);
}

it.each([
  ["pg_control is cut off", (folder: string) => truncateSync(join(folder, "database/global/pg_control"), 100)],
  ["pg_control is missing", (folder: string) => rmSync(join(folder, "database/global/pg_control"))],
  [
    "pg_control is garbage",
    (folder: string) => writeFileSync(join(folder, "database/global/pg_control"), "x".repeat(8192)),
  ],
  ["PG_VERSION is of another version", (folder: string) => writeFileSync(join(folder, "database/PG_VERSION"), "9\n")],
  ["PG_VERSION is missing", (folder: string) => rmSync(join(folder, "database/PG_VERSION"))],
  ["the log is missing", (folder: string) => rmSync(join(folder, "database/pg_wal"), { recursive: true })],
  ["the tables are missing", (folder: string) => rmSync(join(folder, "database/base"), { recursive: true })],
  [
    "every table is cut off",
    (folder: string) => {
      for (const path of tableFiles(folder)) truncateSync(path, Math.min(100, statSync(path).size));
    },
  ],
  [
    "every table is garbage",
    (folder: string) => {
      for (const path of tableFiles(folder)) writeFileSync(path, "x".repeat(statSync(path).size));
    },
  ],
])("a damaged database is refused, saying what to do: %s", async (_what, damage) => {
  const folder = await emptyFolder();
  damage(folder);
  await expectRefused(folder, /damaged.*restore a backup/);
});
