import { seededRandomnessForTests } from "@lethe/core/randomness";
import { describe, expect, it } from "vitest";
import { inAllThreads } from "../../dist/collusion/match.js";
import { CONTROLS, inThisThread, type Opponent } from "../collusion/match.ts";
import { type CollusionSize, DEFAULT_SIZE } from "../collusion/verdict.ts";
import { COLLUDERS_DISTINGUISHERS } from "../collusion/view.ts";
import type { Played } from "../collusion/window.ts";
import { powerOf } from "../intrusion/exact-binomial.ts";
import { describeCollusion, runCollusion } from "./collusion.ts";

/**
 * All intervals of the mode fail together with probability 1e-6, which is how often it is called broken if it is not.
 * A control whose colluders are always right is caught with certainty.
 */
const SMALL: CollusionSize = {
  rounds: { occurrence: 450, choice: 450 },
  controlGames: 100,
  leastTraining: 40,
  familyLevel: 1e-6,
};
const shares: number[] = [];
const surroundings = {
  random: seededRandomnessForTests("colluders"),
  progress: (share: number) => shares.push(share),
};
const result = await runCollusion(SMALL, surroundings, inThisThread);

describe("colluders who hold the keys of one server, and what it received", () => {
  it("learn nothing of the mode, whichever server it is", () => {
    expect(result.games).toHaveLength(2 * 2 * COLLUDERS_DISTINGUISHERS.length);
    for (const server of ["leader", "helper"]) expect(result.games.some((game) => game.server === server)).toBe(true);
    for (const { low, high, games, detectable } of result.games) {
      expect(low).toBeLessThanOrEqual(0);
      expect(high).toBeGreaterThanOrEqual(0);
      expect(detectable).toBeLessThan(0.5);
      expect(powerOf(games, detectable, 1e-6 / result.games.length)).toBeGreaterThanOrEqual(0.99);
    }
    expect(shares.at(-1)).toBe(1);
  });

  it("win every control with either server's keys, by what gives it away, and not the mode in as many games", () => {
    expect(result.controls.map(({ name, caught }) => ({ name, caught }))).toEqual(
      CONTROLS.map((name) => ({ name, caught: true })),
    );
    const [shareKept, lattice, submitted] = result.controls;
    expect(shareKept?.by).toBe("relations");
    expect(lattice?.by).toBe("opened: noise");
    expect(submitted?.by).toBe("answer");
    for (const { advantage, caughtWhenMended } of result.controls) {
      expect(advantage).toBeGreaterThan(0.9);
      expect(caughtWhenMended).toBe(false);
    }
  });

  it("recover every event from the noise of lattices", () => {
    expect(result.controls[1]?.advantage).toBe(1);
  });

  it("have the same games in other threads", async () => {
    const opponent: Opponent = { statistic: "funnel" };
    const match = { opponent, games: 5, key: new Uint8Array(32).fill(7) };
    const played: Played[] = [];
    const note = (games: Played): void => void played.push(games);
    await inThisThread([match], note);
    await inAllThreads([match], note);
    expect(played[1]).toEqual(played[0]);
  });
});

describe("the finding", () => {
  const finding = describeCollusion(result);

  it("has the fields that programs read, as those of the experiment intrusion", () => {
    const json = JSON.parse(JSON.stringify(finding.json)) as { games: object[]; controls: object[] };
    for (const game of json.games) {
      expect(game).toMatchObject({
        statistic: expect.stringMatching(/^(occurrence|choice)$/),
        scheme: "elgamal",
        mode: "two-server",
        server: expect.stringMatching(/^(leader|helper)$/),
        distinguisher: expect.any(String),
        advantage: expect.any(Number),
        low: expect.any(Number),
        high: expect.any(Number),
        games: 450,
      });
    }
    for (const control of json.controls) expect(control).toMatchObject({ name: expect.any(String), caught: true });
    expect(finding.svg).toMatch(/^<svg /);
  });

  it("says so if a colluder learns something, or a control goes unnoticed", () => {
    expect(finding.reading).not.toMatch(/FAILED|WEAK|BUT/);
    const [game, ...games] = result.games;
    const leaking = { ...result, games: [{ ...game, low: 0.1, advantage: 0.2, high: 0.3 }, ...games] };
    expect(describeCollusion(leaking as typeof result).reading).toContain("FAILED: in 1 of");
    const [control, ...controls] = result.controls;
    const missed = { ...result, controls: [{ ...control, caught: false }, ...controls] };
    expect(describeCollusion(missed as typeof result).reading).toContain("WEAK: Algorithm 5 as written");
  });
});

it("the published experiment has every statistic, and at least 10,000 rounds of one for either server", () => {
  expect(Object.keys(DEFAULT_SIZE.rounds)).toEqual(["occurrence", "histogram", "choice", "funnel"]);
  expect(DEFAULT_SIZE.rounds.occurrence).toBeGreaterThanOrEqual(10_000);
});
