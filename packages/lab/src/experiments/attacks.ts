import { type Attack, type AttackName, createAttacks, type Score, score } from "../attacks/index.ts";
import { shareInterval } from "../intrusion/exact-binomial.ts";
import { type Plot, renderSvg } from "../plot/index.ts";
import { ABOUT } from "./attacks-about.ts";
import type { Experiment, Finding, Surroundings, Table } from "./experiment.ts";
import { percent, whole } from "./figures.ts";

/** How many pairs of twins an attack is played on, in each of the two worlds. */
export type AttacksSize = Readonly<
  Record<AttackName, { readonly withoutDefence: number; readonly withDefence: number }>
>;

/** One attack in both worlds. */
export interface AttackFinding extends Pick<Attack, "name" | "defence"> {
  readonly withoutDefence: Score;
  readonly withDefence: Score;
}

/**
 * With these numbers, chance alone takes a figure out of the bounds below in fewer than one run in 10,000. The noise on
 * the number of invalid reports leaves the validity oracle at 51.25%, and a victim's own answer sometimes makes twins
 * differ.
 */
const FULL_SIZE: AttacksSize = {
  "replay amplification": { withoutDefence: 150, withDefence: 400 },
  "validity oracle": { withoutDefence: 300, withDefence: 550 },
  "key averaging": { withoutDefence: 150, withDefence: 250 },
  "double query": { withoutDefence: 50, withDefence: 200 },
};

/**
 * Our claim: without its defence an attack is right at least this often. With it, the interval for independent trials
 * holds 50% and ends below `MOST_WITH`. Pairs of twins show more: the small advantage that noise leaves, which the
 * reading reports.
 */
const LEAST_WITHOUT = 0.99;
const MOST_WITH = 0.56;

/** Plays all attacks in both worlds. */
export async function runAttacks(size: AttacksSize, { random, progress }: Surroundings): Promise<AttackFinding[]> {
  const all = Object.values(size).reduce((sum, pairs) => sum + pairs.withoutDefence + pairs.withDefence, 0);
  let played = 0;
  const playedOne = (): void => {
    played++;
    progress(played / all);
  };
  const findings: AttackFinding[] = [];
  for (const attack of createAttacks()) {
    const { name, defence } = attack;
    const pairs = size[name];
    const withoutDefence = await score(attack, false, pairs.withoutDefence, random, playedOne);
    const withDefence = await score(attack, true, pairs.withDefence, random, playedOne);
    findings.push({ name, defence, withoutDefence, withDefence });
  }
  return findings;
}

/** Four attacks, each with its defence and without. */
export const attacks: Experiment = {
  about: ABOUT,
  run: async (surroundings) => describeAttacks(await runAttacks(FULL_SIZE, surroundings)),
};

/** Tables, picture and reading from the figures. */
export function describeAttacks(findings: readonly AttackFinding[]): Finding {
  return {
    json: { attacks: findings },
    tables: [tableOf(findings)],
    reading: readingOf(findings),
    svg: renderSvg(plotOf(findings)),
  };
}

/** Whether these figures show that the attack needs its defence and that the defence holds. */
export function isAsClaimed({ withoutDefence, withDefence }: AttackFinding): boolean {
  const [low, high] = withDefence.interval;
  return withoutDefence.recovered >= LEAST_WITHOUT && low <= 0.5 && high >= 0.5 && high < MOST_WITH;
}

function tableOf(findings: readonly AttackFinding[]): Table {
  const cells = ({ trials, recovered, interval: [low, high] }: Score): string[] => [
    String(trials),
    percent(recovered),
    `${percent(low)} to ${percent(high)}`,
  ];
  return {
    columns: ["attack", "defence", "trials without", "right", "95%", "trials with", "right", "95%"],
    rows: findings.map(({ name, defence, withoutDefence, withDefence }) => [
      name,
      defence,
      ...cells(withoutDefence),
      ...cells(withDefence),
    ]),
    words: 2,
  };
}

function readingOf(findings: readonly AttackFinding[]): string {
  const list = (of: "withoutDefence" | "withDefence"): string =>
    findings.map((finding) => `${percent(finding[of].recovered)} (${finding.name})`).join(", ");
  const failed = findings.filter((finding) => !isAsClaimed(finding)).map(({ name }) => name);
  const verdict =
    failed.length === 0
      ? "Each attack works without its defence. With it every interval, as for independent trials, holds 50% and ends below 56%."
      : `That is not what we claim of: ${failed.join(", ")}. Without its defence an attack should be right in at least 99% of trials; with it, the interval should hold 50% and end below 56%.`;
  return (
    `Without its defence an attack guessed the bit right in ${list("withoutDefence")} of trials; with it in ${list("withDefence")}. ${verdict} ` +
    readPairs(findings)
  );
}

/** Pairs show more than intervals do: an attacker who learns nothing says the same of both twins. */
function readPairs(findings: readonly AttackFinding[]): string {
  const pairs = findings.reduce((sum, { withDefence }) => sum + withDefence.trials / 2, 0);
  const apart = findings.filter(({ withDefence }) => withDefence.bothRight + withDefence.bothWrong > 0);
  if (apart.length === 0) {
    return `Behind the defences the attackers said the same of both twins in all ${pairs} pairs.`;
  }
  const each = apart.map(
    ({ name, withDefence: { bothRight, bothWrong, trials } }) =>
      `Of ${whole(trials / 2)} pairs, ${name} was right about both twins in ${bothRight} and wrong about both in ${bothWrong}.`,
  );
  const others = apart.length < findings.length ? " The other attackers said the same of both twins in all pairs." : "";
  const seen = apart.filter(({ withDefence }) => isBetterInPairs(withDefence)).map(({ name }) => name);
  const verdict =
    seen.length === 0
      ? "By these pairs no attacker is seen to be better than a coin, although the noise of a defence leaves a small advantage."
      : `By these pairs an attacker is seen to be better than a coin (${seen.join(", ")}). That is the advantage that noise leaves, of a defence or of the victim's own answer; where there is no noise it would be a leak.`;
  return `Behind the defences there were ${whole(pairs)} pairs of twins. ${each.join(" ")}${others} ${verdict}`;
}

/** Whether such a share of the pairs guessed apart is right that coins reach it in at most one run of 200. */
function isBetterInPairs({ bothRight, bothWrong }: Score): boolean {
  const [low] = shareInterval(bothRight + bothWrong, bothRight, 0.01);
  return low > 0.5;
}

/** The attacks that get better the more the attacker spends. */
function plotOf(findings: readonly AttackFinding[]): Plot {
  const names: Partial<Record<AttackName, readonly [without: string, withDefence: string]>> = {
    "replay amplification": ["copies, one key for all devices", "copies, a key for each device"],
    "key averaging": ["keys, each with a fresh error", "keys, error derived"],
  };
  return {
    title: "Trying harder helps, until the defence is there",
    x: { label: "copies sent, or keys asked for", scale: "log" },
    y: { label: "bits guessed right, %", scale: "linear" },
    lines: findings.flatMap(({ name, withoutDefence, withDefence }) =>
      [withoutDefence, withDefence].flatMap(({ byEffort }, i) => {
        const lineName = names[name]?.[i];
        if (lineName === undefined) return [];
        const style = i === 0 ? "solid" : "dashed";
        return [{ name: lineName, style, marks: true, points: byEffort.map((at) => [at.effort, 100 * at.recovered]) }];
      }),
    ),
    note: "A coin is right in 50%. An attacker who gets the same key 16 times stops asking. The validity oracle and the double query take one step: they are in the table.",
  };
}
