import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { describeArrivals } from "./arrivals.ts";
import { type AttackFinding, describeAttacks } from "./attacks.ts";
import { describeCollusion } from "./collusion.ts";
import { describeFhe, type FheResult } from "./fhe.ts";
import { EXPERIMENTS, type Finding, renderContents, renderPage } from "./index.ts";
import { describeIntrusion } from "./intrusion.ts";
import type { LowerBoundPoint, LowerBoundResult, Series } from "./lower-bound.ts";
import { describeLowerBound } from "./lower-bound-finding.ts";
import type { PkeResult } from "./pke-from-pan-privacy.ts";
import { describePke } from "./pke-from-pan-privacy-finding.ts";
import { describeTotalVariation } from "./total-variation.ts";
import type { UtilityResult } from "./utility.ts";
import { describeUtility } from "./utility-finding.ts";
import { wrapMarkdown } from "./wrap-markdown.ts";

const pathOf = (file: string): string => fileURLToPath(new URL(`../../../../docs/lab/${file}`, import.meta.url));
const read = <T>(name: string): T => JSON.parse(readFileSync(pathOf(`${name}.json`), "utf8")) as T;

/** What each experiment found when docs/lab was made. */
const FINDINGS: Readonly<Record<string, () => Finding>> = {
  arrivals: () => describeArrivals(read<Parameters<typeof describeArrivals>[0]>("arrivals")),
  attacks: () => describeAttacks(read<{ attacks: AttackFinding[] }>("attacks").attacks),
  collusion: () => describeCollusion(read<Parameters<typeof describeCollusion>[0]>("collusion")),
  fhe: () => describeFhe(read<FheResult>("fhe")),
  intrusion: () => describeIntrusion(read<Parameters<typeof describeIntrusion>[0]>("intrusion")),
  "lower-bound": () => describeLowerBound(lowerBoundResult()),
  "pke-from-pan-privacy": () => describePke(read<PkeResult>("pke-from-pan-privacy")),
  "total-variation": () =>
    describeTotalVariation(read<Parameters<typeof describeTotalVariation>[0]>("total-variation")),
  utility: () => describeUtility(read<UtilityResult>("utility")),
};

interface LowerBoundJson {
  readonly slopes: Readonly<Record<Series, number>>;
  readonly slopeStandardErrors: Readonly<Record<Series, number>>;
  readonly epsilon: number;
  readonly runs: number;
  readonly lethe: { readonly devices: number; readonly runs: number };
  readonly points: readonly LowerBoundPoint[];
}

function lowerBoundResult(): LowerBoundResult {
  const { slopes, slopeStandardErrors, epsilon, runs, lethe, points } = read<LowerBoundJson>("lower-bound");
  const fits = Object.entries(slopes).map(([series, slope]) => [
    series,
    { slope, standardError: slopeStandardErrors[series as Series] },
  ]);
  const size = {
    ticks: points.map(({ T }) => T),
    devices: points[0]?.devices ?? 0,
    runs,
    lethe: { fleet: lethe.devices, metrics: lethe.runs, fleets: 1 },
  };
  return { epsilon, size, letheRuns: lethe.runs, points, fits: Object.fromEntries(fits) };
}

/**
 * After a change of text or pictures, `npx vitest run packages/lab/src/experiments/page.test.ts -u` writes them again,
 * from the same figures.
 */
describe("docs/lab", () => {
  it.each([...EXPERIMENTS])("%s: page and picture are what is made of its figures today", async (name, entry) => {
    const finding = FINDINGS[name]?.();
    if (!finding) throw new TypeError(`${name} has no finding`);
    const page = renderPage(name, entry.title, await entry.load(), finding);
    await expect(page).toMatchFileSnapshot(pathOf(`${name}.md`));
    await expect(finding.svg).toMatchFileSnapshot(pathOf(`${name}.svg`));
  });

  it("begins with what all of them found", async () => {
    const pages = [...EXPERIMENTS].map(([name, { title }]) => ({
      name,
      title,
      reading: FINDINGS[name]?.().reading ?? "",
    }));
    await expect(renderContents(pages)).toMatchFileSnapshot(pathOf("README.md"));
  });
});

describe("wrapped Markdown", () => {
  const words = (count: number): string => new Array(count).fill("word").join(" ");

  it("has lines of at most 120 characters, and indents what belongs to an item of a list", () => {
    const lines = wrapMarkdown(`${words(60)}\n\n- ${words(30)}\n- ${words(3)}\n`).split("\n");
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(120);
    expect(lines.slice(3)).toEqual(["", `- ${words(23)}`, `  ${words(7)}`, `- ${words(3)}`]);
  });

  it("leaves tables, headings, pictures and quotes alone, and what is wrapped already", () => {
    for (const line of [`| ${words(60)} |`, `# ${words(60)}`, `![${words(60)}](a.svg)`, `> ${words(60)}`]) {
      expect(wrapMarkdown(line)).toBe(line);
    }
    const once = wrapMarkdown(`${words(60)}\n\n- ${words(30)}\n- ${words(3)}`);
    expect(wrapMarkdown(once)).toBe(once);
  });
});
