import { seededRandomnessForTests } from "@lethe/core/randomness";
import { chanceOf, createDuel, PLAYERS, ROUND_TICKS } from "@lethe/lab/duel";
import { describe, expect, it } from "vitest";
import { framesOf } from "./frames.ts";
import { counterDevice, createOrdinaryCounter } from "./ordinary-counter.ts";

const NOON = Date.UTC(2026, 0, 1, 12);

describe("an ordinary counter", () => {
  it("stores how often each event happened, and when", () => {
    const counter = createOrdinaryCounter();
    expect([counter.text, counter.writes]).toEqual(["{}", 0]);
    counter.record("clicked", NOON);
    counter.record("clicked", NOON + 60_000);
    counter.record("failed", NOON);
    expect(JSON.parse(counter.text)).toEqual({
      clicked: { count: 2, first: "2026-01-01T12:00:00.000Z", last: "2026-01-01T12:01:00.000Z" },
      failed: { count: 1, first: "2026-01-01T12:00:00.000Z", last: "2026-01-01T12:00:00.000Z" },
    });
    expect(new TextDecoder().decode(counter.bytes)).toBe(counter.text);
    expect(counter.writes).toBe(3);
  });

  it("loses the game: once they have seen a round, distinguishers win every other", async () => {
    const duel = createDuel(() => counterDevice(NOON, ROUND_TICKS), seededRandomnessForTests("counters"));
    const rounds = 20;
    const right = new Map(PLAYERS.map((player) => [player, 0]));
    for (let i = 0; i < rounds; i++) {
      const { seen, reveal } = await duel.play();
      const { clicked, guesses } = reveal();
      for (const [player, guess] of guesses) right.set(player, (right.get(player) ?? 0) + Number(guess === clicked));
      // What a visitor sees.
      expect(framesOf(seen[clicked]).map(({ writes }) => writes)).toEqual([0, 1, 1, 1]);
      expect(framesOf(seen[clicked === "left" ? "right" : "left"]).map(({ changed }) => changed)).toEqual([0, 0, 0, 0]);
    }
    const best = Math.max(...right.values());
    expect(best).toBeGreaterThanOrEqual(rounds - 1);
    expect(chanceOf(best, rounds) * PLAYERS.length).toBeLessThan(0.001);
  });
});
