import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";

const folder = fileURLToPath(new URL("../dist/browser/", import.meta.url));
const MOST_BYTES = 16_000;
const MOST_BYTES_FOR_TWO_SERVERS = 38_000;

const codeOf = (file: string): string => readFileSync(folder + file, "utf8");
const gzipped = (code: string): number => gzipSync(code, { level: 9 }).length;

/** What a file imports before it runs, itself included. */
function loaded(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const [, name] of codeOf(file).matchAll(/(?:import|from)\s*["']\.\/([^"']+)["']/g)) loaded(name as string, seen);
  return seen;
}

function requireBytes(entry: string, most: number): void {
  const files = [...loaded(entry)];
  const bytes = files.map((file) => gzipped(codeOf(file))).reduce((sum, size) => sum + size, 0);
  console.log(JSON.stringify({ files, bytes, most }));
  expect(bytes).toBeLessThanOrEqual(most);
}

it("everything that a one-server lattice task loads is at most 16 kB, minified and gzipped", () => {
  requireBytes("lethe.js", MOST_BYTES);
});

it("everything that a two-server task loads is at most 38 kB", () => {
  expect(loaded("two-server.js")).toEqual(new Set(readdirSync(folder)));
  requireBytes("two-server.js", MOST_BYTES_FOR_TWO_SERVERS);
});

it("ElGamal and what two servers need are loaded only on demand", () => {
  expect(loaded("lethe.js")).toEqual(new Set(["lethe.js"]));
  expect(loaded("elgamal.js")).toEqual(new Set(["elgamal.js", "lethe.js"]));
  const filesWith = (mark: RegExp) => readdirSync(folder).filter((file) => mark.test(codeOf(file)));
  expect(filesWith(/edwards/)).toEqual(["elgamal.js"]);
  expect(filesWith(/X25519/)).toEqual(["two-server.js"]);
});

it("nothing is compiled while a page runs, which its policy may forbid", () => {
  const compiles = /WebAssembly|\beval\b|\bFunction\(/;
  expect(readdirSync(folder).filter((file) => compiles.test(codeOf(file)))).toEqual([]);
});
