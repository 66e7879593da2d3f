import { type Attack, type AttackName, createAttacks, type Score, score } from "../attacks/index.ts";
import { shareInterval } from "../intrusion/exact-binomial.ts";
import { type Plot, renderSvg } from "../plot/index.ts";
import { ABOUT } from "./attacks-about.ts";
import type { Experiment, Finding, Surroundings, Table } from "./experiment.ts";

/** How many pairs of twins an attack is played on, in each of the two worlds. */
export type AttacksSize = Readonly<
  Record<AttackName, { readonly withoutDefence: number; readonly withDefence: number }>
>;

export interface AttackFinding extends Pick<Attack, "name" | "defence"> {
  readonly withoutDefence: Score;
  readonly withDefence: Score;
}

/**
 * So many that chance alone takes a figure out of the bounds below in fewer than one run in 10,000: the noise on the number of
 * invalid reports leaves the validity oracle at 51.25%, and a victim's own answer makes twins differ now and then.
 */
const FULL_SIZE: AttacksSize = {
  "replay amplification": { withoutDefence: 150, withDefence: 400 },
  "validity oracle": { withoutDefence: 300, withDefence: 550 },
  "key averaging": { withoutDefence: 150, withDefence: 250 },
  "double query": { withoutDefence: 50, withDefence: 200 },
};

/**
 * What is claimed: without its defence an attack is right this often at least; and with it an interval as of independent trials holds 50% and
 * ends below this. Pairs of twins tell more: in them the small advantage shows that the noise leaves, and the reading says how often.
 */
const LEAST_WITHOUT = 0.99;
const MOST_WITH = 0.56;

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

export const attacks: Experiment = {
  about: ABOUT,
  run: async (surroundings) => present(await runAttacks(FULL_SIZE, surroundings)),
};

export function present(findings: readonly AttackFinding[]): Finding {
  return {
    json: { attacks: findings },
    tables: [tableOf(findings)],
    reading: readingOf(findings),
    svg: renderSvg(plotOf(findings)),
  };
}

/** Whether an attack needs its defence, and the defence holds, as far as these figures tell. */
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
      ? "Each attack works without its defence, and with it every interval, as for independent trials, holds 50% and ends below 56%."
      : `That is not what we claim of: ${failed.join(", ")}. Without its defence an attack should be right in 99% of trials at least, and with it the interval should hold 50% and end below 56%.`;
  return (
    `Without its defence an attack guessed the bit right in ${list("withoutDefence")} of trials; with it in ${list("withDefence")}. ${verdict} ` +
    readPairs(findings)
  );
}

/** Twins see more than intervals do: who learns nothing says the same of both. */
function readPairs(findings: readonly AttackFinding[]): string {
  const pairs = findings.reduce((sum, { withDefence }) => sum + withDefence.trials / 2, 0);
  const apart = findings.filter(({ withDefence }) => withDefence.bothRight + withDefence.bothWrong > 0);
  if (apart.length === 0) {
    return `Behind the defences the attackers said the same of both twins in all ${pairs} pairs.`;
  }
  const each = apart.map(
    ({ name, withDefence: { bothRight, bothWrong, trials } }) =>
      `${name} was right about both in ${bothRight} and wrong about both in ${bothWrong} of ${trials / 2}`,
  );
  const others = apart.length < findings.length ? "; the others said the same of both in all of theirs" : "";
  const seen = apart.filter(({ withDefence }) => isBetterInPairs(withDefence)).map(({ name }) => name);
  const verdict =
    seen.length === 0
      ? "By these pairs none is seen to be better than a coin, though the noise of a defence leaves a small advantage."
      : `By these pairs an attacker is seen to be better than a coin (${seen.join(", ")}): that is the advantage which noise leaves, of a defence or of the victim's own answer; where there is no noise it would be a leak.`;
  return `Of ${pairs} pairs of twins behind the defences, ${each.join("; ")}${others}. ${verdict}`;
}

/** Of the pairs in which twins were told apart, as many were right as coins bring in one run of 200 at most. */
function isBetterInPairs({ bothRight, bothWrong }: Score): boolean {
  const [low] = shareInterval(bothRight + bothWrong, bothRight, 0.01);
  return low > 0.5;
}

/** Those that get better the more the attacker spends. */
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
    note: "A coin is right in 50%. Whoever is given the same key 16 times asks no more. The validity oracle and the double query take one step: they are in the table.",
  };
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)}%`;
}
