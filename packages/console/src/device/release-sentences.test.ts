import { beforeAll, describe, expect, it, vi } from "vitest";
import { countedIn, figureText, publishedSentence, withClick } from "./release-sentences.ts";

beforeAll(() => {
  vi.stubGlobal("navigator", { language: "en-US" });
});

const OUTCOME = {
  ...{ task: "t", version: 1, window: 7, from: 35, to: 40, at: 45, enrolled: 1, received: 1, refused: {} },
};

describe("the window of an event", () => {
  it("is the running one, in its first second also the one before", () => {
    expect([countedIn(5, 36), countedIn(5, 39.9), countedIn(5, 35), countedIn(5, 35.9)]).toEqual([
      [7],
      [7],
      [6, 7],
      [6, 7],
    ]);
  });

  it("is remembered once, the newest first, and not for ever", () => {
    const clicks = [[1], [2], [2], [3], [3, 4], [5], [1]].reduce<readonly (readonly number[])[]>(withClick, []);
    expect(clicks).toEqual([[1], [5], [3, 4], [3]]);
  });
});

describe("what was published", () => {
  it("is said with its window", () => {
    const lost = { ...OUTCOME, status: "lost" as const };
    expect(publishedSentence(lost, [7])).toContain("window 7");
    const few = { ...OUTCOME, status: "not-enough" as const, missing: 2 };
    expect(publishedSentence(few, [7])).toBe("Nothing was released of window 7: 1 device reported, and it takes more.");
  });

  it("has estimates with their standard errors", () => {
    const figure = { estimate: 1.0000454, standardError: 0.0067, interval: [0.98, 1.02] as const, consistent: 1 };
    expect(figureText(figure)).toBe("1 ± 0.0067");
  });
});
