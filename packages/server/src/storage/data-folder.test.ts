import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished, vi } from "vitest";
import { openDataFolder } from "../../dist/storage/data-folder.js";
import { migrate } from "../../dist/storage/migrations.js";
import { openPglite } from "../../dist/storage/pglite.js";
import { allBytes, copyEmptyDatabase, temporaryFolder } from "../../test/folder.ts";

async function emptyFolder(): Promise<string> {
  const folder = join(temporaryFolder(), "data");
  await copyEmptyDatabase(folder);
  return folder;
}

/** It is refused with one line that names the folder and says what is the matter; and nothing holds it afterwards. */
async function expectRefused(folder: string, what: RegExp, code = "bad-data-folder"): Promise<void> {
  await expect(openDataFolder(folder)).rejects.toMatchObject({
    name: "LetheError",
    code,
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

it("a process that was killed and is still ending does not keep the next from starting", async () => {
  const folder = await emptyFolder();
  const module = fileURLToPath(new URL("../../../files/dist/index.js", import.meta.url));
  const program = `import { takeLock } from ${JSON.stringify(module)};
    console.log("release" in takeLock(${JSON.stringify(join(folder, "lock"))})); process.stdin.resume();`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", program], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [line] = await once(child.stdout, "data");
  expect(String(line)).toBe("true\n");
  const opening = openDataFolder(folder);
  setTimeout(() => child.kill("SIGKILL"), 500);
  await (await opening).close();
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
  await expectRefused(folder, /newer version of Lethe \(schema 99, .* up to \d+\)/, "bad-database");
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

it("a folder named database that holds something else is refused and left as it is", async () => {
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

it("a first start that was cut off begins again", async () => {
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
  expect(modeOf(join(folder, "database"))).toBe(0o700);
});

const modeOf = (path: string): number => statSync(path).mode & 0o777;

it("a database that others could write is closed to them when it is opened", async () => {
  const folder = await emptyFolder();
  chmodSync(folder, 0o755);
  chmodSync(join(folder, "database"), 0o777);
  const database = await openDataFolder(folder);
  expect(modeOf(join(folder, "database"))).toBe(0o700);
  await database.close();
});

/** The numbers of all files that are synced from now on until the test ends. */
async function watchSyncs(): Promise<Set<number>> {
  const file = await open(import.meta.filename);
  const prototype = Object.getPrototypeOf(file) as FileHandle;
  await file.close();
  const synced = new Set<number>();
  const { sync } = prototype;
  const watched = vi.spyOn(prototype, "sync").mockImplementation(async function (this: FileHandle) {
    synced.add((await this.stat()).ino);
    return sync.call(this);
  });
  onTestFinished(() => watched.mockRestore());
  return synced;
}

it("what is persisted is out of the log, in the tables, and every file and folder is synced", async () => {
  const folder = await emptyFolder();
  const database = await openDataFolder(folder);
  await database.query("INSERT INTO releases (name, number, document) VALUES ('a', 1, 'x')");
  const positions = `SELECT pg_current_wal_lsn()::text AS written, redo_lsn::text AS redo,
    redo_lsn >= $1::pg_lsn AS is_later FROM pg_control_checkpoint()`;
  const [before] = await database.query<{ written: string; redo: string }>(positions, ["0/0"]);
  const synced = await watchSyncs();
  await database.persist();

  // After a crash the log would be read from where everything before is in the tables.
  const [after] = await database.query<{ redo: string }>(positions, [before?.written ?? ""]);
  expect(after).toMatchObject({ is_later: true });
  expect(after?.redo).not.toBe(before?.redo);
  const below = readdirSync(folder, { recursive: true }).map(String);
  const expected = [folder, ...below.filter((name) => name !== "lock").map((name) => join(folder, name))];
  expect(expected.length).toBeGreaterThan(500);
  expect(expected.filter((path) => !synced.has(statSync(path).ino))).toEqual([]);

  expect(await database.query("SELECT document FROM releases")).toEqual([{ document: "x" }]);
  await database.close();
  await expect(database.persist()).rejects.toThrow();
});

it("a database waits with what comes next until what was before is on disk", async () => {
  const database = await openDataFolder(await emptyFolder());
  const done: string[] = [];
  const insert = "INSERT INTO releases (name, number, document) VALUES ('a', 1, 'x')";
  await Promise.all([
    database.persist().then(() => done.push("persisted")),
    database.query(insert).then(() => done.push("inserted")),
  ]);
  expect(done).toEqual(["persisted", "inserted"]);
  await database.close();
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

it("a folder of the version that stored pseudonyms of addresses loses them, from its files and its log", async () => {
  const folder = join(temporaryFolder(), "data");
  mkdirSync(join(folder, "database"), { recursive: true });
  const old = await openPglite(join(folder, "database"));
  await migrate(old, 3);
  const pseudonym = Buffer.from(crypto.getRandomValues(new Uint8Array(32)));
  await old.query("INSERT INTO addresses (window_id, address, enrolled) VALUES (1, $1, 5)", [pseudonym]);
  await old.query("INSERT INTO releases (name, number, document) VALUES ('a', 1, 'x')");
  await old.close();
  expect(allBytes(folder).includes(pseudonym)).toBe(true);

  const database = await openDataFolder(folder);
  expect(allBytes(folder).includes(pseudonym)).toBe(false);
  expect(await database.query("SELECT to_regclass('addresses') AS found")).toEqual([{ found: null }]);
  expect(await database.query("SELECT document FROM releases")).toEqual([{ document: "x" }]);
  await database.close();
  expect(allBytes(folder).includes(pseudonym)).toBe(false);
});
