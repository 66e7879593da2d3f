import { type Distinguisher, type Outcome, PLAYERS, type Side } from "@lethe/lab/duel";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { addOutcome, NO_ROUNDS } from "./score.ts";
import { chanceText, playersOf, verdictOf } from "./score-sentences.ts";

beforeAll(() => {
  vi.stubGlobal("navigator", { language: "en-US" });
});

/** A round in which these distinguishers think that it was the left device. */
function round(clicked: Side, ...left: Distinguisher[]): Outcome {
  return { clicked, guesses: new Map(PLAYERS.map((player) => [player, left.includes(player) ? "left" : "right"])) };
}

describe("the score", () => {
  it("counts right guesses of the visitor and of every distinguisher", () => {
    const one = addOutcome(NO_ROUNDS, round("left", "sizes"), "left");
    const two = addOutcome(one, round("right", "sizes"), "left");
    const three = addOutcome(two, round("left", "times"), undefined);
    expect(three.visitor).toEqual({ right: 1, rounds: 2 });
    expect(three.players.get("sizes")).toEqual({ right: 1, rounds: 3 });
    expect(three.players.get("times")).toEqual({ right: 2, rounds: 3 });
    expect(three.players.get("ones")).toEqual({ right: 1, rounds: 3 });
    expect(playersOf(three).map(({ name }) => name)).toEqual(["you", ...PLAYERS]);
    expect(NO_ROUNDS.players.size).toBe(0);
  });

  it("says who did better than luck, not after a few rounds", () => {
    expect(verdictOf(NO_ROUNDS)).toBe("Nobody has played yet.");
    const after = (rounds: number) =>
      Array.from({ length: rounds }).reduce<typeof NO_ROUNDS>(
        (score) => addOutcome(score, round("left", "sizes"), "right"),
        NO_ROUNDS,
      );
    expect(verdictOf(after(10))).toBe("Nobody is better than luck explains.");
    expect(verdictOf(after(14))).toBe("More than luck: sizes (14 of 14).");
  });

  it("has probabilities that a person can read", () => {
    expect([1, 0.5, 0.001, 2 ** -20].map(chanceText)).toEqual(["100.0%", "50.0%", "0.1%", "1 in 1,048,576"]);
  });
});
