import { seededRandomnessForTests, uniformBelow } from "@lethe/core/randomness";
import { describe, expect, it } from "vitest";
import { brokenMaker } from "../intrusion/controls.ts";
import type { Device } from "../intrusion/games.ts";
import { sdkMaker } from "../intrusion/sdk.ts";
import { bytesFrom } from "../randomness/bytes-from.ts";
import { createDuel, type Duel, type Outcome, PLAYERS, ROUND_TICKS, SIDES, type Side } from "./duel.ts";
import { chanceOf, isBeyondLuck } from "./luck.ts";

const ROUNDS = 40;
/** Over all players of a duel, the probability that luck alone fails a test. */
const FALSE_ALARM = 1e-6;

async function playRounds(duel: Duel): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (let i = 0; i < ROUNDS; i++) outcomes.push((await duel.play()).reveal());
  return outcomes;
}

/** How often each player was right. */
function scoresOf(outcomes: readonly Outcome[]): number[] {
  return PLAYERS.map((player) => outcomes.filter(({ clicked, guesses }) => guesses.get(player) === clicked).length);
}

function isLuck(right: number): boolean {
  return chanceOf(right, ROUNDS) * PLAYERS.length > FALSE_ALARM;
}

/** Stores noise of the same length in every tick. */
function forgetful(): Device {
  const random = seededRandomnessForTests("forgetful");
  const noise = (): Uint8Array => bytesFrom(random, 250);
  return {
    ...{ segments: ROUND_TICKS, parts: "coefficients" },
    live: () => ({ dump: noise(), stored: [{ bytes: noise(), at: 1 }] }),
  };
}

describe("two devices, one of which clicked", () => {
  it("nobody tells the SDK's devices apart better than luck does", async () => {
    const maker = await sdkMaker(seededRandomnessForTests("devices of a duel"));
    const scores = scoresOf(await playRounds(createDuel(() => maker(), seededRandomnessForTests("duel with the SDK"))));
    expect(scores.filter((right) => !isLuck(right))).toEqual([]);
  });

  it("a device that does not rerandomize loses", async () => {
    const random = seededRandomnessForTests("duel with a broken device");
    const scores = scoresOf(await playRounds(createDuel(brokenMaker("no rerandomization", false, random), random)));
    // The first round teaches what to look at.
    expect(Math.max(...scores)).toBeGreaterThanOrEqual(ROUNDS - 1);
    expect(isLuck(Math.max(...scores))).toBe(false);
  });

  it("only one of the two clicks, in every tick but the first, as a coin decides", async () => {
    const clicks: Record<Side, boolean[]>[] = [];
    const open = (side: Side): Device => {
      if (side === "left") clicks.push({ left: [], right: [] });
      const { live, ...device } = forgetful();
      return {
        ...device,
        live: (tick, happens) => {
          clicks.at(-1)?.[side].push(happens);
          return live(tick, happens);
        },
      };
    };
    const outcomes = await playRounds(createDuel(open, seededRandomnessForTests("coins")));
    const never = Array<boolean>(ROUND_TICKS).fill(false);
    const always = never.map((_, tick) => tick > 0);
    expect(clicks).toEqual(outcomes.map(({ clicked }) => ({ left: never, right: never, [clicked]: always })));
    const left = outcomes.filter(({ clicked }) => clicked === "left").length;
    expect(isLuck(left) && isLuck(ROUNDS - left)).toBe(true);
  });

  it("guesses are made before the round is decided, and do not change when it is decided twice", async () => {
    const duel = createDuel(forgetful, seededRandomnessForTests("twice"));
    const round = await duel.play();
    expect(round.reveal()).toEqual(round.reveal());
    expect(SIDES.map((side) => round.seen[side].length)).toEqual([ROUND_TICKS, ROUND_TICKS]);
  });

  it("both devices are closed, also if one of them fails", async () => {
    let closed = 0;
    const open = (side: Side): Device => ({
      ...forgetful(),
      close: async () => {
        closed++;
      },
      ...(side === "right" && { live: () => Promise.reject(new Error("it broke")) }),
    });
    await expect(createDuel(open, seededRandomnessForTests("failing")).play()).rejects.toThrow("it broke");
    expect(closed).toBe(2);
  });
});

describe("luck", () => {
  it("is the exact binomial tail of a coin", () => {
    expect([chanceOf(0, 0), chanceOf(0, 3), chanceOf(3, 3), chanceOf(2, 3)]).toEqual([
      ...[1, 1, expect.closeTo(1 / 8, 12), expect.closeTo(1 / 2, 12)],
    ]);
  });

  it("explains the best of many players longer than a single one", () => {
    expect(isBeyondLuck(chanceOf(10, 10), 1)).toBe(true);
    expect(isBeyondLuck(chanceOf(10, 10), PLAYERS.length)).toBe(false);
    const random = seededRandomnessForTests("coins");
    const heads = Array.from({ length: 20 }, () => uniformBelow(random, 2)).reduce((sum, coin) => sum + coin, 0);
    expect(isBeyondLuck(chanceOf(heads, 20), 1)).toBe(false);
  });
});
