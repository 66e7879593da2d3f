import { DISTINGUISHERS } from "../intrusion/battery.ts";
import { EVENTS, IN_REPORT } from "../intrusion/controls.ts";
import { type Arena, inAllThreads } from "../intrusion/match.ts";
import { SUBJECTS, type Subject } from "../intrusion/subjects.ts";
import {
  type Control,
  DEFAULT_SIZE,
  findAdvantages,
  type Game,
  type IntrusionResult,
  type IntrusionSize,
  isSeen,
} from "../intrusion/verdict.ts";
import { type Line, type Point, renderSvg } from "../plot/index.ts";
import type { Experiment, Finding, Surroundings, Table } from "./experiment.ts";

const about = `
Lethe promises that somebody who opens a device learns nothing of what happened on it: not from everything it ever
stored, not from when and how much it wrote, not from one look into its memory between two writes. The paper proves this on paper, under
assumptions about encryption. Proofs say nothing about a byte that was left in a header, a write that came a moment early, or a
rerandomization that somebody forgot. So here the game of the definition is played, with the code that devices run.

**The game.** A device has real keys and lives through a window of segments: the time between two writes. A segment ends with a tick, at a moment when a session
writes, or when a page is hidden, after which the state is opened again from what was stored. In every segment a coin decides whether something happens or nothing does. Then
the intruder is shown the version that was stored before the segment, a dump of the ciphertexts in memory after the event would have
happened, whatever was stored, how large it was and when it was written; and guesses the coin. Who always guesses right has advantage 1, who
throws a coin has 0. Everything is known to the intruder but the server's key.

**What is not in it.** The dump is the ciphertexts that \`inspect()\` gives, not a copy of the process's memory. Three things that such a copy may hold are known to tell, as
[the threat model](../threat-model.md) says: for histograms and means, how many events there were since the last write, in the clear; with ElGamal, the ciphertexts from before an event, until they are collected; with two servers,
group elements that hold a fresh sharing. A game is about one segment: an intruder who watches a whole window plays many, and small advantages may add up. The sealed report
is in no game. All lattice devices here have the smallest parameter set (L1: dimension 1,024, a modulus of one limb).

**The intruders.** ${DISTINGUISHERS.length} of them: nine look at one number each (sizes, times, bytes, bits and group elements or coefficients that did not
change, ones, entropies, the dump against storage), and the last is a classifier, logistic regression, that sees all of these, how often each half byte occurs, and
the first bytes of the record. Each learns its threshold or its weights on some games and is scored on others, which it has never seen, so luck is not
counted as skill. The intervals are exact (Clopper and Pearson), and those of real devices hold all together with probability 99%; those of broken and of mended devices have the same level each, and are apart. The number of games follows from the question: so many
that an intruder who **has learnt** enough to have an advantage of 0.02 (lattice) or 0.1 (ElGamal, where a write takes ten times as long) would be seen to have one with probability 99%.
Learning costs something, as there are eight times fewer games to learn from: a number whose best threshold has an advantage of just 0.02 is seen with a probability of about 92%, since the threshold that is learnt is not quite the best; and a leak that is spread over many numbers is found by the classifier only if it is larger.

**The SDK.** For speed most games are played against the state machines that the SDK runs. One set, smaller, is played against the SDK itself, with its clock, its schedule of
writes (ticks, pages that are closed and opened again, and the moments after that at which a session writes) and its record from the first byte to the end of its state, manifest and keys included; of what comes after, the next window's keys and zeros, only the size is seen. Its writes are set off by the lab, which moves the clock and calls \`sendPending()\`, not by a timer.

**The controls.** A test that never fails shows nothing. Four devices with one fault each meet the same intruders: one that does not rerandomize, one that writes
when something happens, one that rerandomizes once per write and so keeps in memory what it stored, and one that adds an encryption for each event, which whoever holds
the key sees in the noise of a report. All four must be caught; the same device without the fault must not be. The fourth is a toy: its reports hold ${IN_REPORT} encryptions, and ${EVENTS} events if anything happens, so that the fault stands out.
Real reports hold 2(T + hides) + 1, and nobody looks at their noise here: that it does not depend on events is tested in \`packages/core/src/statistic/key-holder-view.stat.test.ts\`.
`;

/** All games and controls at a size. */
export function runIntrusion(
  size: IntrusionSize,
  { random, progress }: Surroundings,
  arena: Arena,
): Promise<IntrusionResult> {
  return findAdvantages(size, arena, random, progress);
}

export function describeIntrusion(result: IntrusionResult): Finding {
  return {
    json: result,
    tables: [
      { caption: "Real devices", ...gamesTable(result.games) },
      { caption: "The SDK as a whole", ...gamesTable(result.sdk) },
      controlsTable(result.controls),
    ],
    reading: reading(result),
    svg: picture(result),
  };
}

export const intrusion: Experiment = {
  about,
  run: async (surroundings) => describeIntrusion(await runIntrusion(DEFAULT_SIZE, surroundings, inAllThreads)),
};

/** One row for all distinguishers of a subject. */
function gamesTable(games: readonly Game[]): Omit<Table, "caption"> {
  const isOf = ({ statistic, scheme, mode }: Subject, game: Game): boolean =>
    game.statistic === statistic && game.scheme === scheme && game.mode === mode;
  const rows = SUBJECTS.map((subject) => games.filter((game) => isOf(subject, game))).flatMap((mine) => {
    const classifier = mine.find(({ distinguisher }) => distinguisher === "classifier");
    if (!classifier) return [];
    const { statistic, scheme, mode, detectable } = classifier;
    const most = farthest(mine);
    const row = [statistic, scheme, mode, most.distinguisher, figure(most.advantage), interval(most)];
    return [[...row, interval(classifier), classifier.games.toLocaleString("en-US"), String(detectable)]];
  });
  const columns = ["statistic", "scheme", "mode", "farthest from 0", "advantage", "interval", "classifier", "games"];
  return { columns: [...columns, "would be seen, once learnt"], rows, words: 4 };
}

function farthest(games: readonly Game[]): Game {
  return games.reduce((a, b) => (Math.abs(b.advantage) > Math.abs(a.advantage) ? b : a));
}

function controlsTable(controls: readonly Control[]): Table {
  return {
    caption: "Broken devices",
    columns: ["fault", "caught", "by", "without the fault", "advantage", "interval"],
    rows: controls.map((control) => [
      control.name,
      control.caught ? "yes" : "NO",
      control.by ?? "",
      control.caughtWhenMended ? "CAUGHT" : "not caught",
      figure(control.advantage),
      interval(control),
    ]),
    words: 4,
  };
}

function figure(value: number): string {
  return value
    .toFixed(3)
    .replace(/^-(0\.0*)$/, "$1")
    .replace("-", "−");
}

function interval({ low, high }: { low: number; high: number }): string {
  return `[${figure(low)}, ${figure(high)}]`;
}

function reading({ games, sdk, controls, power, familyLevel }: IntrusionResult): string {
  const percent = (share: number): string => `${Number((100 * share).toPrecision(6))}%`;
  const detectable = [...new Set(games.map((game) => `${game.detectable} (${game.scheme})`))].join(" or ");
  return [
    readGames([...games, ...sdk]),
    `An intruder who had learnt enough for an advantage of ${detectable} would have been seen with probability ${percent(power)}, against the SDK as a whole one of ${sdk[0]?.detectable}; one who had yet to learn, with a smaller one. All intervals of real devices hold together with probability ${percent(1 - familyLevel)}.`,
    readControls(controls),
    "This speaks of these intruders only: a better one could exist, and only the assumptions behind the encryption say that it cannot. Not part of the game are the sealed report, what the SDK shows by running at all, and what lies in memory beside the ciphertexts that `inspect()` gives: for histograms and means the number of events since the last write, with ElGamal old ciphertexts that linger, with two servers group elements of a fresh sharing.",
  ].join(" ");
}

function readGames(games: readonly Game[]): string {
  const seen = games.filter(isSeen);
  const name = (game: Game): string => `${figure(game.advantage)} (${nameOf(game)})`;
  if (seen.length > 0) {
    return `THE CLAIM FAILED: in ${seen.length} of ${games.length} games the advantage is beyond what chance explains: ${seen.map(name).join(", ")}.`;
  }
  return `In none of ${games.length} games, each a distinguisher against a statistic and a scheme, was the advantage beyond what chance explains; the farthest from 0 was ${name(farthest(games))}.`;
}

function readControls(controls: readonly Control[]): string {
  const missed = controls.filter(({ caught }) => !caught).map(({ name }) => name);
  if (missed.length > 0) return `The test itself is TOO WEAK: ${missed.join(", ")} went unnoticed.`;
  const mended = controls.some(({ caughtWhenMended }) => caughtWhenMended);
  return `All ${controls.length} broken devices were caught${mended ? ", BUT SO WAS ONE WITHOUT A FAULT" : ", and the same devices without the fault were not"}.`;
}

function nameOf({ distinguisher, statistic, scheme, mode }: Game): string {
  return `${distinguisher}, ${statistic}, ${mode === "two-server" ? "two servers" : scheme}`;
}

/** Each interval is an upright bar on the line of no advantage. */
function bars(name: string, from: number, intervals: readonly { low: number; high: number }[]): Line {
  const points = intervals.flatMap(({ low, high }, i): Point[] => {
    const x = from + i;
    return [
      [x, 0],
      [x, low],
      [x, high],
      [x, 0],
    ];
  });
  return { name, points, marks: false, style: "solid" };
}

const GROUPS = [
  { name: "lattice", scheme: "lattice", mode: "one-server" },
  { name: "ElGamal", scheme: "elgamal", mode: "one-server" },
  { name: "two servers", scheme: "elgamal", mode: "two-server" },
] as const;

function picture({ games, controls, power }: IntrusionResult): string {
  const lines: Line[] = [];
  const limit: Point[] = [];
  let at = 1;
  for (const { name, scheme, mode } of GROUPS) {
    const group = games.filter((game) => game.scheme === scheme && game.mode === mode);
    const [first] = group;
    if (!first) continue;
    lines.push(bars(name, at, group));
    limit.push([at, first.detectable], [at + group.length, first.detectable]);
    at += group.length;
  }
  lines.push({ name: `would be seen once learnt (${100 * power}%)`, points: limit, style: "dashed", marks: false });
  // Apart from the others, and from each other.
  lines.push({
    name: "broken devices",
    points: controls.flatMap(({ advantage }, i): Point[] => {
      const x = at + 4 + 3 * i;
      return [
        [x, 0],
        [x, advantage],
        [x, 0],
      ];
    }),
    marks: false,
    style: "solid",
  });
  return renderSvg({
    title: "What intruders gain over guessing: real devices, and broken ones",
    x: { label: "distinguishers of each statistic, then broken devices", scale: "linear" },
    y: { label: "advantage (1: always right, 0: a coin)", scale: "linear" },
    lines,
    note: "Bars are intervals that hold all together; of broken devices, the advantage of what saw most.",
  });
}
