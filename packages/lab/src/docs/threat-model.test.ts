import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = new URL("../../../../", import.meta.url);
const text = readFileSync(new URL("docs/threat-model.md", root), "utf8");
/** Five columns, without heads and rules. */
const rows = text
  .split("\n")
  .filter((line) => line.startsWith("| ") && !line.startsWith("| adversary "))
  .map((line) => line.slice(2, -2).split(" | "));

describe("the threat model", () => {
  it("has five columns in every row", () => {
    expect(rows.length).toBeGreaterThan(40);
    for (const row of rows) expect(row, row[0] ?? "").toHaveLength(5);
  });

  it("names a test that exists in every row, or says that nothing is promised", () => {
    for (const [adversary, , , , test = ""] of rows) {
      const named = [...test.matchAll(/`([a-z]+)\/([^`]+)`/g)];
      if (named.length === 0) expect(test.trim(), adversary ?? "").toBe("not promised");
      for (const [, name, path] of named) {
        const folder = path?.startsWith("scenarios/") ? `packages/${name}` : `packages/${name}/src`;
        const file = fileURLToPath(new URL(`${folder}/${path}`, root));
        expect(existsSync(file), `${adversary}: ${file}`).toBe(true);
      }
    }
  });
});
