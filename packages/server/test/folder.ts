import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { openDataFolder } from "../dist/storage/data-folder.js";

const fileOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** A new empty folder, which the test removes when it ends. */
export function temporaryFolder(): string {
  const folder = unownedFolder();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The caller removes it. */
export function unownedFolder(): string {
  return mkdtempSync(join(tmpdir(), "lethe-server-"));
}

/** All files below a folder, one after another. */
export function allBytes(folder: string): Buffer {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name));
  return Buffer.concat(files.filter((path) => statSync(path).isFile()).map((path) => readFileSync(path)));
}

/** Puts a data folder with an empty database at this path. */
export async function copyEmptyDatabase(to: string): Promise<void> {
  // With their times, so that files that nobody changes need not be synced.
  cpSync(await emptyDatabase(), to, { recursive: true, preserveTimestamps: true });
}

/** Making one takes seconds: it is kept, as long as schema and PGlite are the same. */
async function emptyDatabase(): Promise<string> {
  const made = createHash("sha256")
    .update(readFileSync(fileOf("../dist/storage/migrations.js")))
    .update(readFileSync(fileOf("../../../node_modules/@electric-sql/pglite/package.json")))
    .digest("hex")
    .slice(0, 16);
  const folder = fileOf(`../../../node_modules/.cache/lethe-server-tests/${made}`);
  if (existsSync(folder)) return folder;
  mkdirSync(dirname(folder), { recursive: true });
  const unfinished = `${folder}.${process.pid}`;
  await (await openDataFolder(unfinished)).close();
  try {
    renameSync(unfinished, folder);
  } catch {
    // Another test file was quicker.
    rmSync(unfinished, { recursive: true });
  }
  return folder;
}
