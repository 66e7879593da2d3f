import { describe, expect, it, onTestFinished, vi } from "vitest";
import { epsilonText } from "../format/number.ts";
import { hijackedSentence, surenessPercent } from "./sentences.ts";

describe("what an ε means in words", () => {
  it("how sure somebody can be is rounded up", () => {
    expect([0, 0.1, 1, 5, 20].map(surenessPercent)).toEqual(["50%", "52.5%", "73.2%", "99.4%", "nearly 100%"]);
  });

  it("an ε is never printed as less than it is", () => {
    vi.stubGlobal("navigator", { language: "en-US" });
    onTestFinished(() => {
      vi.unstubAllGlobals();
    });
    expect([1, 1.0001, 0.5060009, 116.296, 1070.97, 0].map(epsilonText)).toEqual([
      ...["1", "1.01", "0.507", "117", "1,080", "0"],
    ]);
    expect(epsilonText(Number.POSITIVE_INFINITY)).toBe("no bound");
  });

  it("too few devices are named as such", () => {
    expect(hijackedSentence(Number.POSITIVE_INFINITY)).toContain("Too few");
  });
});
