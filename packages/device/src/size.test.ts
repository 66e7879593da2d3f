import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";

const folder = fileURLToPath(new URL("../dist/browser/", import.meta.url));
const MOST_BYTES = 16_000;
const MOST_BYTES_FOR_TWO_SERVERS = 40_000;
const MOST_BYTES_AGAINST_COLLUSION = 43_000;

const codeOf = (file: string): string => readFileSync(folder + file, "utf8");
const gzipped = (code: string): number => gzipSync(code, { level: 9 }).length;

/** What a file imports before it runs, itself included. */
function loaded(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const [, name] of codeOf(file).matchAll(/(?:import|from)\s*["']\.\/([^"']+)["']/g)) loaded(name as string, seen);
  return seen;
}

function requireBytes(entries: string | readonly string[], most: number): void {
  const files = [...new Set([entries].flat().flatMap((entry) => [...loaded(entry)]))];
  const bytes = files.map((file) => gzipped(codeOf(file))).reduce((sum, size) => sum + size, 0);
  console.log(JSON.stringify({ files, bytes, most }));
  expect(bytes).toBeLessThanOrEqual(most);
}

it("everything that a lattice occurrence task loads is at most 16 kB, minified and gzipped", () => {
  requireBytes("lethe.js", MOST_BYTES);
});

it("everything that a two-server task loads is at most 40 kB", () => {
  expect(loaded("two-server.js")).toEqual(new Set(["lethe.js", "counting.js", "curve.js", "two-server.js"]));
  requireBytes("two-server.js", MOST_BYTES_FOR_TWO_SERVERS);
});

it("everything that a two-server task against collusion loads is at most 43 kB, of which others load nothing", () => {
  expect(loaded("collusion.js")).toEqual(
    new Set(["lethe.js", "counting.js", "curve.js", "categories.js", "collusion.js"]),
  );
  requireBytes(["two-server.js", "collusion.js"], MOST_BYTES_AGAINST_COLLUSION);
  const filesWith = (mark: RegExp) => readdirSync(folder).filter((file) => mark.test(codeOf(file)));
  expect(filesWith(/slot shared over elgamal/)).toEqual(["collusion.js", "lethe-all.js"]);
});

it("rotations, ElGamal, budgets and what two servers need are loaded only on demand", () => {
  expect(loaded("lethe.js")).toEqual(new Set(["lethe.js"]));
  expect(loaded("rotations.js")).toEqual(new Set(["rotations.js", "counting.js", "lethe.js"]));
  expect(loaded("budget.js")).toEqual(new Set(["budget.js", "lethe.js"]));
  expect(loaded("elgamal.js")).toEqual(new Set(["elgamal.js", "curve.js", "categories.js", "counting.js", "lethe.js"]));
  const filesWith = (mark: RegExp) => readdirSync(folder).filter((file) => mark.test(codeOf(file)));
  expect(filesWith(/edwards/)).toEqual(["curve.js", "lethe-all.js"]);
  expect(filesWith(/X25519/)).toEqual(["lethe-all.js", "two-server.js"]);
});

it("the one file loads no other, and is not larger than all of the others", () => {
  expect(loaded("lethe-all.js")).toEqual(new Set(["lethe-all.js"]));
  // A library asks Node's own module where there is no WebCrypto, which no browser lacks.
  const imports = [...codeOf("lethe-all.js").matchAll(/\bimport\(([^)]*)\)/g)].map(([, what]) => what);
  expect(imports.filter((what) => what !== "`crypto`")).toEqual([]);
  const others = readdirSync(folder).filter((file) => file !== "lethe-all.js");
  requireBytes(
    "lethe-all.js",
    others.reduce((sum, file) => sum + gzipped(codeOf(file)), 0),
  );
});

it("nothing is compiled while a page runs, which its policy may forbid", () => {
  const compiles = /WebAssembly|\beval\b|\bFunction\(/;
  expect(readdirSync(folder).filter((file) => compiles.test(codeOf(file)))).toEqual([]);
});
