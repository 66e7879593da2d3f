import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { randomnessFrom } from "@lethe/core/randomness";
import { EXPERIMENTS, renderPage } from "@lethe/lab/experiments";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { letheIn } from "../../test/lethe.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "lethe-lab-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe("lethe lab", () => {
  it("--json prints nothing but JSON, and the picture goes where it is asked to", () => {
    const { status, stdout, stderr } = letheIn(folder, "lab", "total-variation", "--json", "--out", "pictures");
    expect(status).toBe(0);
    const { points } = JSON.parse(stdout) as { points: Record<string, number>[] };
    expect(Object.keys(points[0] ?? {})).toEqual(expect.arrayContaining(["T", "p", "exact", "closedForm", "bound"]));
    expect(readFileSync(join(folder, "pictures", "total-variation.svg"), "utf8")).toMatch(/^<svg/);
    expect(stderr).toContain("100%");
  });

  it("prints a table, a reading, and where the picture is", () => {
    const { stdout } = letheIn(folder, "lab", "total-variation");
    expect(stdout).toMatch(/^ *ε +T +/m);
    expect(stdout).toMatch(/\n\n.{200,}\n\nPicture: lethe-lab\/total-variation\.svg\n$/);
  });

  it("says at once which experiments there are, and that a folder cannot be written to", () => {
    const unknown = letheIn(folder, "lab", "lower");
    expect(unknown).toMatchObject({ status: 2, stdout: "" });
    expect(unknown.stderr).toMatch(/^error: .*'lower' is invalid.* lower-bound, .* all\.\n$/);
    writeFileSync(join(folder, "file"), "");
    expect(letheIn(folder, "lab", "fhe", "--out", "file")).toEqual({
      status: 2,
      stdout: "",
      stderr: "error: the folder file cannot be written to (EEXIST)\n",
    });
  });
});

describe("docs/lab", () => {
  const pages = new URL("../../../../docs/lab/", import.meta.url);
  const read = (file: string): string => readFileSync(new URL(file, pages), "utf8");

  it("has a page, a picture and the figures of every experiment, and nothing else", () => {
    const files = [...EXPERIMENTS.keys()].flatMap((name) => [`${name}.json`, `${name}.md`, `${name}.svg`]);
    expect(readdirSync(pages).sort()).toEqual(["README.md", ...files].sort());
    for (const [name, { title }] of EXPERIMENTS) expect(read("README.md")).toContain(`[${title}](${name}.md)`);
  });

  it("tells how each experiment is made today", async () => {
    for (const [name, { title, load }] of EXPERIMENTS) {
      const { about } = await load();
      expect(read(`${name}.md`).startsWith(`# ${title}\n\n${about.trim()}\n`), name).toBe(true);
    }
  });

  it("has the figures of the one that has no chance in it", async () => {
    const { load, title } = EXPERIMENTS.get("total-variation") ?? {};
    const experiment = await load?.();
    const random = randomnessFrom(globalThis.crypto);
    const finding = await experiment?.run({ random, progress: () => {} });
    if (!experiment || !finding) throw new TypeError("there is such an experiment");
    expect(read("total-variation.md")).toBe(renderPage("total-variation", `${title}`, experiment, finding));
  });
});
