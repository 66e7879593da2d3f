import { existsSync, readdirSync, readFileSync } from "node:fs";
import { entryOf, STATISTICS } from "@lethe/core/statistic";
import { describe, expect, it } from "vitest";

const root = new URL("../../../../", import.meta.url);
const markdownIn = (folder: string): string[] =>
  readdirSync(new URL(folder, root))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `${folder}${name}`);
const packages = readdirSync(new URL("packages/", root)).map((name) => `packages/${name}/README.md`);
const folders = ["./", "docs/", "docs/lab/", "docs/statistics/"];
const pages = [...folders.flatMap(markdownIn), ...packages];

/** The page without its code, where brackets mean something else. */
function proseOf(page: string): string {
  return readFileSync(new URL(page, root), "utf8").replaceAll(/^```.*?^```$/gms, "");
}

/** The anchors of a page's headings, as GitHub makes them. */
function anchorsOf(page: string): Set<string> {
  const headings = [...proseOf(page).matchAll(/^#+ (.*)$/gm)].map(([, text = ""]) => text.toLowerCase());
  return new Set(headings.map((text) => text.replaceAll(/[^\p{L}\p{N}_\- ]/gu, "").replaceAll(" ", "-")));
}

describe("the pages", () => {
  it("README has at most 150 lines", () => {
    expect(readFileSync(new URL("README.md", root), "utf8").trimEnd().split("\n").length).toBeLessThanOrEqual(150);
  });

  it("docs/README has the question of every statistic, as the console asks it", () => {
    const index = readFileSync(new URL("docs/README.md", root), "utf8");
    const rows = [...index.matchAll(/^\| (.*) \| \[?`([\w-]+)`/gm)].map(([, question, name]) => [name, question]);
    expect(rows).toEqual(STATISTICS.map((name) => [name, entryOf(name).words.question]));
  });

  it.each(pages)("%s links to pages and headings that exist", (page) => {
    const links = [...proseOf(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => link);
    for (const link of links.filter((found) => !found.startsWith("http"))) {
      const [path = "", anchor] = link.split("#");
      const target = path === "" ? page : decodeURI(new URL(path, new URL(page, root)).href.slice(root.href.length));
      expect(existsSync(new URL(target, root)), `${page}: ${link}`).toBe(true);
      if (anchor !== undefined) expect([...anchorsOf(target)], `${page}: ${link}`).toContain(anchor);
    }
  });
});
