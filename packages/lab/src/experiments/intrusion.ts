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
import { signed, whole } from "./figures.ts";
import { gameBars } from "./game-bars.ts";
import { ABOUT } from "./intrusion-about.ts";

/** Plays all games and controls of a size in an arena: this thread, or all processors. */
export function runIntrusion(
  size: IntrusionSize,
  { random, progress }: Surroundings,
  arena: Arena,
): Promise<IntrusionResult> {
  return findAdvantages(size, arena, random, progress);
}

/** Tables, picture and reading from the figures. */
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

/** The game of the definition, against real devices and against broken ones. */
export const intrusion: Experiment = {
  about: ABOUT,
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
    return [[...row, interval(classifier), whole(classifier.games), String(detectable)]];
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
  return signed(value, 3);
}

function interval({ low, high }: { low: number; high: number }): string {
  return `[${figure(low)}, ${figure(high)}]`;
}

function reading({ games, sdk, controls, power, familyLevel }: IntrusionResult): string {
  const percent = (share: number): string => `${Number((100 * share).toPrecision(6))}%`;
  const detectable = [...new Set(games.map((game) => `${game.detectable} (${game.scheme})`))].join(" or ");
  return [
    readGames([...games, ...sdk]),
    `An intruder who had learnt enough for an advantage of ${detectable}, or of ${sdk[0]?.detectable} against the SDK as a whole, would have been seen with probability ${percent(power)}; one who had yet to learn, with a smaller probability. All intervals of real devices hold together with probability ${percent(1 - familyLevel)}.`,
    readControls(controls),
    "This is about these intruders only: a better one could exist, and only the assumptions behind the encryption say that it cannot. Not part of the game are the sealed report, what the SDK shows by running at all, and what else memory holds beside the ciphertexts that `inspect()` returns. For histograms and means that is the number of events since the last write; with ElGamal, old ciphertexts that linger; with two servers, group elements of a fresh sharing.",
  ].join(" ");
}

function readGames(games: readonly Game[]): string {
  const seen = games.filter(isSeen);
  const name = (game: Game): string => `${figure(game.advantage)} (${nameOf(game)})`;
  if (seen.length > 0) {
    return `THE CLAIM FAILED: in ${seen.length} of ${games.length} games the advantage is beyond what chance explains: ${seen.map(name).join(", ")}.`;
  }
  return `In none of ${games.length} games, each with one distinguisher, statistic and scheme, was the advantage beyond what chance explains; the farthest from 0 was ${name(farthest(games))}.`;
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
    lines.push(gameBars(name, at, group));
    limit.push([at, first.detectable], [at + group.length, first.detectable]);
    at += group.length;
  }
  lines.push({ name: `would be seen once learnt (${100 * power}%)`, points: limit, style: "dashed", marks: false });
  // Apart from the others, and from each other.
  const advantages = controls.map(({ advantage }) => ({ low: 0, high: advantage }));
  lines.push(gameBars("broken devices", at + 4, advantages, 3));
  return renderSvg({
    title: "What intruders gain over guessing: real devices, and broken ones",
    x: { label: "distinguishers of each statistic, then broken devices", scale: "linear" },
    y: { label: "advantage (1: always right, 0: a coin)", scale: "linear" },
    lines,
    note: "Bars are intervals that hold all together; for broken devices, the advantage of the best distinguisher.",
  });
}
