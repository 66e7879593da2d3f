import { seededRandomnessForTests, uniformBelow } from "@lethe/core/randomness";
import { describe, expect, it } from "vitest";
import { inAllThreads } from "../../dist/intrusion/match.js";
import { DISTINGUISHERS, runBattery } from "../intrusion/battery.ts";
import { FAULTS } from "../intrusion/controls.ts";
import { advantageOf, gamesFor, powerOf, shareInterval } from "../intrusion/exact-binomial.ts";
import type { Sample } from "../intrusion/logistic-regression.ts";
import { inThisThread, type Match } from "../intrusion/match.ts";
import { SUBJECTS } from "../intrusion/subjects.ts";
import { DEFAULT_SIZE, type IntrusionSize } from "../intrusion/verdict.ts";
import { FEATURES } from "../intrusion/view.ts";
import { randomnessFromKey } from "../randomness/expanded-randomness.ts";
import { describeIntrusion, runIntrusion } from "./intrusion.ts";

/** All intervals together fail with probability 1e-6, and only those of the SDK are not seeded. */
const SMALL: IntrusionSize = {
  subjects: [
    ...SUBJECTS.filter(({ statistic, scheme }) => scheme === "lattice" || statistic === "occurrence").slice(0, 4),
    ...SUBJECTS.filter(({ statistic }) => statistic === "funnel" || statistic === "retention"),
  ],
  detectable: { lattice: 0.3, elgamal: 0.7 },
  sdkDetectable: 0.6,
  controlGames: 150,
  leastTraining: 200,
  familyLevel: 1e-6,
};
const shares: number[] = [];
const surroundings = {
  random: seededRandomnessForTests("intruders"),
  progress: (share: number) => shares.push(share),
};
const result = await runIntrusion(SMALL, surroundings, inThisThread);

describe("intruders", () => {
  it("learn nothing from the state machines, nor from the SDK as a whole", () => {
    expect(result.games).toHaveLength(6 * DISTINGUISHERS.length);
    expect(result.sdk).toHaveLength(DISTINGUISHERS.length);
    for (const { low, high, games, detectable } of [...result.games, ...result.sdk]) {
      expect(low).toBeLessThanOrEqual(0);
      expect(high).toBeGreaterThanOrEqual(0);
      expect(powerOf(games, detectable, 1e-6 / 50)).toBeGreaterThanOrEqual(0.99);
    }
    expect(shares.at(-1)).toBe(1);
  });

  it("catch every broken device, by what is broken, and not the same device without the fault", () => {
    expect(result.controls.map(({ name, caught }) => ({ name, caught }))).toEqual(
      FAULTS.map((name) => ({ name, caught: true })),
    );
    const [, onEvents, once, encryption] = result.controls;
    expect(["sizes", "times"]).toContain(onEvents?.by);
    expect(["dump against storage", "equal parts"]).toContain(once?.by);
    expect(encryption?.by).toBe("noise");
    expect(result.controls.filter(({ caughtWhenMended }) => caughtWhenMended)).toEqual([]);
  });

  it("have the same games in other threads", async () => {
    const match: Match = {
      opponent: SUBJECTS[0] as (typeof SUBJECTS)[number],
      games: 31,
      key: new Uint8Array(32).fill(7),
    };
    const played: Sample[] = [];
    const note = (games: Sample): void => void played.push(games);
    await inThisThread([match], note);
    await inAllThreads([match], note);
    expect(played[1]).toEqual(played[0]);
  });
});

describe("the finding", () => {
  const finding = describeIntrusion(result);

  it("has the fields that programs read", () => {
    const json = JSON.parse(JSON.stringify(finding.json)) as { games: object[]; controls: object[] };
    for (const game of json.games) {
      expect(game).toMatchObject({
        statistic: expect.stringMatching(/^(occurrence|histogram|mean|funnel|retention)$/),
        scheme: expect.stringMatching(/^(lattice|elgamal)$/),
        mode: expect.stringMatching(/^(one|two)-server$/),
        distinguisher: expect.any(String),
        advantage: expect.any(Number),
        low: expect.any(Number),
        high: expect.any(Number),
      });
    }
    for (const control of json.controls) expect(control).toMatchObject({ name: expect.any(String), caught: true });
    expect(finding.svg).toMatch(/^<svg /);
  });

  it("says so if an intruder learns something, or a broken device goes unnoticed", () => {
    expect(finding.reading).not.toMatch(/FAILED|WEAK|BUT/);
    const [game, ...games] = result.games;
    const leaking = { ...result, games: [{ ...game, low: 0.1, advantage: 0.2, high: 0.3 }, ...games] };
    expect(describeIntrusion(leaking as typeof result).reading).toContain("FAILED: in 1 of");
    const [control, ...controls] = result.controls;
    const missed = { ...result, controls: [{ ...control, caught: false }, ...controls] };
    expect(describeIntrusion(missed as typeof result).reading).toContain("WEAK: no rerandomization");
  });
});

describe("the number of games", () => {
  // scipy.stats.binomtest(k, n).proportion_ci(method="exact")
  it("gives the intervals of Clopper and Pearson", () => {
    const near = (found: readonly number[], expected: readonly number[]) =>
      found.forEach((value, i) => {
        expect(value).toBeCloseTo(expected[i] as number, 6);
      });
    near(shareInterval(10, 3, 0.05), [0.0667395111777345, 0.6524528500599973]);
    near(shareInterval(10, 0, 0.05), [0, 0.3084971078187608]);
    near(shareInterval(10, 10, 0.05), [0.6915028921812392, 1]);
    expect(advantageOf(1000, 500, 1e-6).advantage).toBe(0);
  });

  it("is enough at full size: 0.02 for lattice, 0.1 for the others, with probability 99%", () => {
    const level = DEFAULT_SIZE.familyLevel / ((DEFAULT_SIZE.subjects.length + 1) * DISTINGUISHERS.length);
    for (const advantage of Object.values(DEFAULT_SIZE.detectable)) {
      const games = gamesFor(advantage, level, 0.99);
      expect(powerOf(games, advantage, level)).toBeGreaterThanOrEqual(0.99);
      expect(powerOf(Math.floor(0.97 * games), advantage, level)).toBeLessThan(0.99);
    }
  });

  // A leak that is seen with probability 0.99 is missed by more than 8 of 50 with probability below 1e-8; chance at 1e-4
  // is seen more than twice in 50 with probability below 1e-7.
  it("finds a planted leak of that size, and no leak where there is none", () => {
    const [advantage, level, training] = [0.1, 1e-4, 400];
    const games = gamesFor(advantage, level, 0.99);
    const random = randomnessFromKey(new Uint8Array(32).fill(1));
    const isSeen = (leak: number): boolean => {
      const sample = planted(training + games, leak, random);
      return runBattery(sample, training, level, ["sizes"]).some(({ low, high }) => low > 0 || high < 0);
    };
    const seen = (leak: number): number => Array.from({ length: 50 }, () => isSeen(leak)).filter(Boolean).length;
    expect(seen(advantage)).toBeGreaterThanOrEqual(42);
    expect(seen(0)).toBeLessThanOrEqual(2);
  });

  it("lets the classifier find what no single number shows", () => {
    const random = randomnessFromKey(new Uint8Array(32).fill(2));
    const sample = planted(1400, 0, random);
    // One number hides the label in another's noise; only their difference shows it.
    for (const [i, label] of sample.labels.entries()) {
      const noise = uniformBelow(random, 1000);
      sample.features[i * FEATURES + 2] = noise;
      sample.features[i * FEATURES + 3] = noise + 100 * label;
    }
    const [one, other, classifier] = runBattery(sample, 400, 1e-6, ["equal bytes", "equal bits", "classifier"]);
    expect(Math.max(one?.low ?? 1, other?.low ?? 1)).toBeLessThan(0);
    expect(classifier?.low).toBeGreaterThan(0.5);
  });
});

/** Views of nothing, but for their size, which betrays the label with this advantage. */
function planted(games: number, leak: number, random: ReturnType<typeof randomnessFromKey>): Sample {
  const sample = { features: new Float32Array(games * FEATURES), labels: new Uint8Array(games) };
  const bytes = new Uint8Array(games);
  random(bytes);
  for (let i = 0; i < games; i++) {
    const label = (bytes[i] as number) & 1;
    const coin = ((bytes[i] as number) >> 1) & 1;
    sample.labels[i] = label;
    sample.features[i * FEATURES] = uniformBelow(random, 1000) < 1000 * leak ? label : coin;
  }
  return sample;
}
