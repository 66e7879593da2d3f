import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";

const SITE = join(import.meta.dirname, "..", "dist", "site");
const ASSETS = join(SITE, "assets");
const [MOST_FIRST, MOST_OF_ALL] = [60_000, 250_000];

const gzipped = (path: string): number => gzipSync(readFileSync(path), { level: 9 }).length;

/** The files that these load before they run. */
function withImports(files: readonly string[]): Set<string> {
  const found = new Set<string>();
  const visit = (file: string): void => {
    if (found.has(file)) return;
    found.add(file);
    if (!file.endsWith(".js")) return;
    const code = readFileSync(join(ASSETS, file), "utf8");
    for (const [, imported = ""] of code.matchAll(/(?:import|from)\s*"\.\/([^"]+)"/g)) visit(imported);
  };
  files.forEach(visit);
  return found;
}

/** The file of a view, and the style sheets that are loaded with it. */
function filesOf(view: string): string[] {
  return readdirSync(ASSETS).filter((file) => file.startsWith(`${view}-`));
}

it("the page with its first view, results, is at most 60 kB when compressed", () => {
  const html = readFileSync(join(SITE, "index.html"), "utf8");
  const named = [...html.matchAll(/assets\/([^"]+)"/g)].map(([, file = ""]) => file);
  const files = withImports([...named, ...filesOf("info"), ...filesOf("results")]);
  expect([...files].filter((file) => file.startsWith("results-")).length).toBe(2);
  // What reads manifests has all statistics with their encryption, and is loaded only if nothing is released yet.
  expect([...files].filter((file) => file.startsWith("manifest-"))).toEqual([]);
  const bytes = [...files].reduce((sum, file) => sum + gzipped(join(ASSETS, file)), gzipped(join(SITE, "index.html")));
  expect(bytes).toBeLessThan(MOST_FIRST);
});

it("all files together are at most 250 kB when compressed", () => {
  const bytes = readdirSync(ASSETS).reduce((sum, file) => sum + gzipped(join(ASSETS, file)), 0);
  expect(bytes).toBeLessThan(MOST_OF_ALL);
});
