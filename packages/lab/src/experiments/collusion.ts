import { type ColludersArena, inAllThreads } from "../collusion/match.ts";
import {
  type CollusionControl,
  type CollusionGame,
  type CollusionResult,
  type CollusionSize,
  DEFAULT_SIZE,
  findColludersAdvantages,
} from "../collusion/verdict.ts";
import { isSeen } from "../intrusion/verdict.ts";
import { type Line, type Point, renderSvg } from "../plot/index.ts";
import { ABOUT } from "./collusion-about.ts";
import type { Experiment, Finding, Surroundings, Table } from "./experiment.ts";
import { signed, whole } from "./figures.ts";
import { gameBars } from "./game-bars.ts";

/** Plays all games and controls of a size in an arena: this thread, or all processors. */
export function runCollusion(
  size: CollusionSize,
  { random, progress }: Surroundings,
  arena: ColludersArena,
): Promise<CollusionResult> {
  return findColludersAdvantages(size, arena, random, progress);
}

/** Tables, picture and reading from the figures. */
export function describeCollusion(result: CollusionResult): Finding {
  return {
    json: result,
    tables: [gamesTable(result.games), controlsTable(result.controls)],
    reading: reading(result),
    svg: picture(result),
  };
}

/** The game of the definition, against an intruder who has the keys of one of two servers. */
export const collusion: Experiment = {
  about: ABOUT,
  run: async (surroundings) => describeCollusion(await runCollusion(DEFAULT_SIZE, surroundings, inAllThreads)),
};

/** The games of each statistic and server, in their order. */
function grouped(games: readonly CollusionGame[]): CollusionGame[][] {
  const groups = new Map<string, CollusionGame[]>();
  for (const game of games) {
    const name = `${game.statistic} ${game.server}`;
    groups.set(name, [...(groups.get(name) ?? []), game]);
  }
  return [...groups.values()];
}

function gamesTable(games: readonly CollusionGame[]): Table {
  const rows = grouped(games).map((mine) => {
    const most = farthest(mine);
    const classifier = mine.find(({ distinguisher }) => distinguisher === "classifier") as CollusionGame;
    const found = [most.distinguisher, figure(most.advantage), interval(most)];
    return [most.statistic, most.server, ...found, interval(classifier), whole(most.games), String(most.detectable)];
  });
  const columns = ["statistic", "keys of", "farthest from 0", "advantage", "interval", "classifier", "rounds"];
  return {
    caption: "Devices of the mode",
    columns: [...columns, "would be seen, once learnt"],
    rows,
    words: 3,
  };
}

function controlsTable(controls: readonly CollusionControl[]): Table {
  return {
    caption: "Controls, each with the server whose colluder saw less",
    columns: ["control", "caught", "by", "keys of", "advantage", "interval", "the mode itself"],
    rows: controls.map((control) => [
      control.name,
      control.caught ? "yes" : "NO",
      control.by ?? "",
      control.server,
      figure(control.advantage),
      interval(control),
      control.caughtWhenMended ? "CAUGHT" : "not caught",
    ]),
    words: 4,
  };
}

function farthest(games: readonly CollusionGame[]): CollusionGame {
  return games.reduce((a, b) => (Math.abs(b.advantage) > Math.abs(a.advantage) ? b : a));
}

function figure(value: number): string {
  return signed(value, 3);
}

function interval({ low, high }: { low: number; high: number }): string {
  return `[${figure(low)}, ${figure(high)}]`;
}

function reading({ games, controls, power, familyLevel }: CollusionResult): string {
  const statisticsWith = (detectable: number): string =>
    [...new Set(games.filter((game) => game.detectable === detectable).map(({ statistic }) => statistic))].join(", ");
  const detectable = [...new Set(games.map((game) => game.detectable))]
    .map((each) => `${each} (${statisticsWith(each)})`)
    .join(" or ");
  const percent = (share: number): string => `${Number((100 * share).toPrecision(6))}%`;
  return [
    readGames(games),
    `A colluder who had learnt enough for an advantage of ${detectable} would have been seen with probability ${percent(power)}; one who had yet to learn, with a smaller probability. All intervals of the mode hold together with probability ${percent(1 - familyLevel)}.`,
    readControls(controls),
    "This is about these colluders only: a better one could exist, and only the decisional Diffie–Hellman assumption says that it cannot. The third control is no fault of the mode but its limit: an intruder who sends captured ciphertexts, or has a dishonest server send them, makes the honest server open one state per device and window.",
  ].join(" ");
}

function readGames(games: readonly CollusionGame[]): string {
  const seen = games.filter(isSeen);
  const name = (game: CollusionGame): string =>
    `${figure(game.advantage)} (${game.distinguisher}, ${game.statistic}, keys of the ${game.server})`;
  if (seen.length > 0) {
    return `THE CLAIM FAILED: in ${seen.length} of ${games.length} games the advantage is beyond what chance explains: ${seen.map(name).join(", ")}.`;
  }
  return `In none of ${games.length} games, each with one distinguisher, one server's keys and one statistic, was the advantage beyond what chance explains; the farthest from 0 was ${name(farthest(games))}.`;
}

function readControls(controls: readonly CollusionControl[]): string {
  const missed = controls.filter(({ caught }) => !caught).map(({ name }) => name);
  if (missed.length > 0) return `The test itself is TOO WEAK: ${missed.join(", ")} went unnoticed.`;
  const mended = controls.some(({ caughtWhenMended }) => caughtWhenMended);
  return `All ${controls.length} controls lost to the colluders of either server${mended ? ", BUT SO DID THE MODE ITSELF in as many games" : ", and the mode itself in as many games did not"}.`;
}

function picture({ games, controls, power }: CollusionResult): string {
  const lines: Line[] = [];
  const limit: Point[] = [];
  let at = 1;
  for (const server of ["leader", "helper"] as const) {
    const mine = games.filter((game) => game.server === server);
    lines.push(gameBars(`keys of the ${server}`, at, mine));
    limit.push(...mine.map(({ detectable }, i): Point => [at + i, detectable]));
    at += mine.length;
  }
  lines.push({ name: `would be seen once learnt (${100 * power}%)`, points: limit, style: "dashed", marks: false });
  lines.push(
    gameBars(
      "controls",
      at + 8,
      controls.map(({ advantage }) => ({ low: 0, high: advantage })),
      8,
    ),
  );
  return renderSvg({
    title: "What colluders gain over guessing: the mode, and three controls",
    x: { label: "distinguishers of each statistic and server, then controls", scale: "linear" },
    y: { label: "advantage (1: always right, 0: a coin)", scale: "linear" },
    lines,
    note: "Bars are intervals that hold all together; for controls, the advantage of the best distinguisher.",
  });
}
