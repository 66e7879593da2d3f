import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { cycleIn, folderGraph, importsBelow } from "../../test/imports.ts";

const root = fileURLToPath(new URL("../../../../", import.meta.url));
const packages = readdirSync(join(root, "packages"));

/** The arrows of the first diagram in docs/architecture.md: `cli --> lab` allows `cli` to import `lab`. */
function drawnArrows(): Map<string, Set<string>> {
  const text = readFileSync(join(root, "docs/architecture.md"), "utf8");
  const diagram = /```mermaid\n(.*?)```/s.exec(text)?.[1] ?? "";
  const arrows = new Map(packages.map((name) => [name, new Set<string>()]));
  for (const [, from = "", to = ""] of diagram.matchAll(/^\s*(\w+) --> (.+)$/gm)) {
    for (const target of to.split(" & ")) arrows.get(from)?.add(target.trim());
  }
  return arrows;
}

describe("the layers drawn in docs/architecture.md", () => {
  const arrows = drawnArrows();

  it("have a box for every package", () => {
    expect(packages.length).toBeGreaterThan(4);
    for (const name of packages) expect([...arrows.keys()]).toContain(name);
    expect([...arrows.values()].reduce((sum, targets) => sum + targets.size, 0)).toBeGreaterThan(8);
  });

  it("have no cycle", () => {
    expect(cycleIn(arrows)).toBeUndefined();
  });

  it.each(packages)("%s imports only the packages that its arrows point at", (name) => {
    for (const { from, to } of importsBelow(join(root, "packages", name, "src"))) {
      const other = /^@lethe\/(\w+)/.exec(to)?.[1];
      if (other && other !== name) expect([...(arrows.get(name) ?? [])], `${name}/src/${from}`).toContain(other);
      // Nobody reaches into another package past its exports.
      expect(to.startsWith("../"), `${name}/src/${from} imports ${to}`).toBe(false);
    }
  });

  it.each(packages)("package.json of %s names the packages that it imports, and no other", (name) => {
    const read = readFileSync(join(root, "packages", name, "package.json"), "utf8");
    const { files, ...described } = JSON.parse(read) as { files: string[] } & Partial<
      Record<"dependencies" | "devDependencies", Record<string, string>>
    >;
    // Static files contain what they import.
    const field = files.includes("dist/site") ? "devDependencies" : "dependencies";
    const declared = Object.keys(described[field] ?? {}).filter((dependency) => dependency.startsWith("@lethe/"));
    const imported = importsBelow(join(root, "packages", name, "src")).flatMap(
      ({ to }) => /^@lethe\/\w+/.exec(to)?.[0] ?? [],
    );
    expect(declared.sort()).toEqual([...new Set(imported)].filter((other) => other !== `@lethe/${name}`).sort());
  });
});

it("what the console takes from the lab runs in pages: it imports core, the SDK, and nothing of Node", () => {
  const imports = importsBelow(join(root, "packages/lab/src")).filter(({ isValue }) => isValue);
  const reached = new Set(["duel/index.ts"]);
  for (const file of reached) for (const { from, to } of imports) if (from === file) reached.add(to);
  const outside = [...reached].filter((file) => !file.endsWith(".ts"));
  expect([...reached]).toContain("intrusion/battery.ts");
  expect(outside.filter((name) => !/^@lethe\/(core|device)\b/.test(name))).toEqual([]);
  const taken = importsBelow(join(root, "packages/console/src")).filter(({ to }) => to.startsWith("@lethe/lab"));
  expect([...new Set(taken.map(({ to }) => to))]).toEqual(["@lethe/lab/duel"]);
});

describe("the folders below a package's src", () => {
  it.each(packages)("of %s do not import each other in a circle", (name) => {
    expect(cycleIn(folderGraph(importsBelow(join(root, "packages", name, "src"))))).toBeUndefined();
  });

  it("are found out if they do: by value, not for types alone", () => {
    const folder = mkdtempSync(join(tmpdir(), "lethe-layers-"));
    try {
      for (const name of ["a", "b", "c"]) mkdirSync(join(folder, name));
      writeFileSync(join(folder, "a/a.ts"), `import { b } from "../b/b.ts";\nexport const a = b;\n`);
      writeFileSync(join(folder, "b/b.ts"), `import {\n  c,\n} from "../c/c.ts";\nexport const b = c;\n`);
      writeFileSync(join(folder, "c/c.ts"), `import type { A } from "../a/a.ts";\nexport const c = 1 as A;\n`);
      expect(cycleIn(folderGraph(importsBelow(folder)))).toBeUndefined();
      writeFileSync(join(folder, "c/c.ts"), `export { a as c } from "../a/a.ts";\n`);
      expect(cycleIn(folderGraph(importsBelow(folder)))).toEqual(["a", "b", "c", "a"]);
      writeFileSync(join(folder, "c/c.ts"), `export const c = () => import("../a/a.ts");\n`);
      expect(cycleIn(folderGraph(importsBelow(folder)))).toEqual(["a", "b", "c", "a"]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
