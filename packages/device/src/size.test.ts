import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";

const folder = fileURLToPath(new URL("../dist/browser/", import.meta.url));
const MOST_BYTES = 16_000;

const codeOf = (file: string): string => readFileSync(folder + file, "utf8");
const gzipped = (code: string): number => gzipSync(code, { level: 9 }).length;

/** What a file imports before it runs, itself included. */
function loaded(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const [, name] of codeOf(file).matchAll(/(?:import|from)\s*["']\.\/([^"']+)["']/g)) loaded(name as string, seen);
  return seen;
}

it("everything that a one-server lattice task loads is at most 16 kB, minified and gzipped", () => {
  const files = [...loaded("lethe.js")];
  const bytes = files.map((file) => gzipped(codeOf(file))).reduce((sum, size) => sum + size, 0);
  console.log(JSON.stringify({ files, bytes, most: MOST_BYTES }));
  expect(bytes).toBeLessThanOrEqual(MOST_BYTES);
});

it("ElGamal is loaded only on demand", () => {
  const onDemand = readdirSync(folder).filter((file) => file.endsWith(".js") && !loaded("lethe.js").has(file));
  expect(onDemand).not.toEqual([]);
  for (const file of loaded("lethe.js")) expect(codeOf(file)).not.toMatch(/ristretto/i);
  expect(onDemand.some((file) => /ristretto/i.test(codeOf(file)))).toBe(true);
});
