import { seededRandomnessForTests } from "@lethe/core/randomness";
import { describe, expect, it } from "vitest";
import { fastRandomness } from "../../../core/test/fast-randomness.ts";
import { type Attack, score, wilsonInterval } from "../attacks/index.ts";
import { type AttackFinding, type AttacksSize, attacks, describeAttacks, isAsClaimed, runAttacks } from "./attacks.ts";

const SMALL: AttacksSize = {
  "replay amplification": { withoutDefence: 5, withDefence: 30 },
  "validity oracle": { withoutDefence: 20, withDefence: 120 },
  "key averaging": { withoutDefence: 4, withDefence: 10 },
  "double query": { withoutDefence: 2, withDefence: 6 },
};

describe("the four attacks", async () => {
  const shares: number[] = [];
  const findings = await runAttacks(SMALL, {
    random: fastRandomness("four attacks"),
    progress: (share) => shares.push(share),
  });
  const [replay, oracle, averaging, query] = findings as [AttackFinding, AttackFinding, AttackFinding, AttackFinding];
  const missed = ({ withoutDefence: { trials, recovered } }: AttackFinding): number =>
    Math.round(trials * (1 - recovered));

  it("tell the bit without their defence", () => {
    // A slot of 2,048 values is 0 by chance, or noise hides the copies: three misses of replays have probability 1e-8, of keys 2e-9, four of the oracle 1e-9.
    expect(missed(replay)).toBeLessThan(3);
    expect(missed(oracle)).toBeLessThan(4);
    expect(missed(averaging)).toBeLessThan(3);
    // The line is exact.
    expect(missed(query)).toBe(0);
  });

  it("do not with it: hardly ever are both twins guessed right", () => {
    // Each bound is passed with probability 1e-6 at most. Twins' sums are on both sides of the threshold with probability 0.046.
    expect(replay.withDefence.bothRight).toBeLessThan(11);
    // Both are right if the noise on the count is 0: 0.025.
    expect(oracle.withDefence.bothRight).toBeLessThan(16);
    // Under a wrong key a slot of 2,048 values is 0.
    expect(averaging.withDefence.bothRight).toBeLessThan(3);
    // A line through points of two sharings passes through 1 with probability 2⁻⁶⁴.
    expect(query.withDefence.bothRight).toBe(0);
  });

  it("take what they are said to take", () => {
    const early = averaging.withoutDefence.byEffort.find(({ effort }) => effort === 16);
    // Rounding 1,024 coefficients right takes hundreds of keys.
    expect(early?.recovered).toBeLessThan(0.8);
    expect(averaging.withoutDefence.byEffort.at(-1)?.effort).toBe(1200);
    // The same key, 16 times: nobody asks for more.
    expect(averaging.withDefence.byEffort.at(-1)?.effort).toBe(16);
    expect(replay.withDefence.byEffort.at(-1)).toEqual({ effort: 44, recovered: replay.withDefence.recovered });
  });

  it("give the figures that are promised, a table, a picture and a reading", () => {
    const { json, tables, svg, reading } = describeAttacks(findings);
    const world = expect.objectContaining({ trials: expect.any(Number), recovered: expect.any(Number) });
    const names = ["replay amplification", "validity oracle", "key averaging", "double query"];
    expect(JSON.parse(JSON.stringify(json))).toEqual({
      attacks: names.map((name) => expect.objectContaining({ name, withoutDefence: world, withDefence: world })),
    });
    expect(oracle.withDefence.trials).toBe(240);
    expect(tables[0]?.rows.map(([name]) => name)).toEqual(names);
    expect(svg).toContain("copies, a key for each device");
    // So few trials cannot show what is claimed, and the reading says so.
    expect(reading).toContain("That is not what we claim of: replay amplification");
    expect(attacks.about).toContain("51.25%");
    expect(shares.at(-1)).toBe(1);
    expect(shares.length).toBe(197);
  });
});

describe("an attack", () => {
  const random = seededRandomnessForTests("scores");
  const knows = { play: async () => [{ effort: 1, of0: 0, of1: 1 } as const] };
  const blind = { play: async () => [{ effort: 1, of0: 1, of1: 1 } as const] };
  const sayingOf = async (without: typeof knows | typeof blind, withDefence: typeof without, pairs: number) => ({
    name: "key averaging" as const,
    defence: "",
    withoutDefence: await score(without, false, pairs, random),
    withDefence: await score(withDefence, true, pairs, random),
  });

  it("that says the same of both twins is right about one of them", async () => {
    expect(await score(blind, true, 300, random)).toMatchObject({ trials: 600, recovered: 0.5, bothRight: 0 });
  });

  it("is as claimed only if it works without the defence and not with it", async () => {
    expect(isAsClaimed(await sayingOf(knows, blind, 300))).toBe(true);
    expect(isAsClaimed(await sayingOf(knows, knows, 300))).toBe(false);
    expect(isAsClaimed(await sayingOf(blind, blind, 300))).toBe(false);
    // Of 200 trials the interval is too wide to say.
    expect(isAsClaimed(await sayingOf(knows, blind, 100))).toBe(false);
    const { reading } = describeAttacks([await sayingOf(knows, blind, 300)]);
    expect(reading).toContain("every interval, as for independent trials, holds 50%");
    expect(reading).toContain("said the same of both twins in all 300 pairs");
  });

  it("that is right about both twins a little more often is seen in the pairs, where the interval holds 50%", async () => {
    let pair = 0;
    const leaks = { play: () => (pair++ % 30 ? blind : knows).play() };
    const finding = { ...(await sayingOf(knows, blind, 300)), withDefence: await score(leaks, true, 570, random) };
    expect(isAsClaimed(finding)).toBe(true);
    const { reading } = describeAttacks([finding]);
    expect(reading).toContain("Of 570 pairs, key averaging was right about both twins in 19 and wrong about both in 0");
    expect(reading).toContain("seen to be better than a coin (key averaging)");
  });

  it("that tells one pair in twelve apart is noticed", async () => {
    let pair = 0;
    const leaks = { play: () => (pair++ % 12 ? blind : knows).play() };
    const { interval } = await score(leaks, true, 600, random);
    expect(interval[0]).toBeGreaterThan(0.5);
  });

  it("is played on the same coins for both twins, and on others for the next pair", async () => {
    const drawn: string[] = [];
    const play: Attack["play"] = async (_defended, { shared }) => {
      for (const purpose of ["noise", "noise", "crowd"]) {
        const bytes = new Uint8Array(8);
        shared(purpose)(bytes);
        drawn.push(bytes.join());
      }
      return blind.play();
    };
    await score({ play }, true, 2, random);
    expect(drawn[0]).toBe(drawn[1]);
    expect(new Set(drawn).size).toBe(4);
  });

  it("is given Wilson's interval", () => {
    // At either end the share is 1.96 standard deviations of that end away.
    for (const end of wilsonInterval(0.2, 20)) {
      expect(Math.abs(end - 0.2) / Math.sqrt((end * (1 - end)) / 20)).toBeCloseTo(1.96, 4);
    }
    expect(wilsonInterval(1, 50)[1]).toBeCloseTo(1, 12);
  });
});
