import type { Randomness } from "@lethe/core/randomness";
import type { Arena, Match, Rules } from "../intrusion/tournament.ts";
import { inThreads } from "../parallel/in-threads.ts";
import { randomnessFromKey } from "../randomness/expanded-randomness.ts";
import { type PlayedStatistic, realWindows, sharesKept, statesSubmitted } from "./devices.ts";
import { latticeWindows } from "./lattices.ts";
import { joinPlayed, type Played, play, type Window } from "./window.ts";

/** What must not hold against a colluder. */
export const CONTROLS = [
  "Algorithm 5 as written",
  "resharing over lattices",
  "captured ciphertexts submitted",
] as const;
/** One of them. */
export type ControlName = (typeof CONTROLS)[number];

/** Whose devices are played against. */
export type Opponent = { readonly statistic: PlayedStatistic } | { readonly control: ControlName };

const WINDOWS: Readonly<Record<ControlName, (random: Randomness) => () => Window>> = {
  "Algorithm 5 as written": sharesKept,
  "resharing over lattices": latticeWindows,
  "captured ciphertexts submitted": statesSubmitted,
};

/** Plays the games of a match. */
export function performMatch({ opponent, games, key }: Match<Opponent>): Promise<Played> {
  const random = randomnessFromKey(key);
  const windows = "control" in opponent ? WINDOWS[opponent.control](random) : realWindows(opponent.statistic, random);
  return play(windows, games, random);
}

/** Where games are played: this thread, or all processors. */
export type ColludersArena = Arena<Opponent, Played>;

/** Plays on all processors. */
export const inAllThreads: ColludersArena = (matches, onPlayed) =>
  inThreads(new URL("./thread.js", import.meta.url), matches, onPlayed);

/** Plays in this thread: for a few games, for which threads would take longer to start. */
export const inThisThread: ColludersArena = async (matches, onPlayed) => {
  for (const [i, match] of matches.entries()) onPlayed(await performMatch(match), i);
};

/** Games of a match: whole windows, which take a second or two; a submitted state is a window by itself. */
const MATCH_GAMES = 248;
const SUBMITTED_GAMES = 25;

/** How games are spread over threads. */
export const RULES: Rules<Opponent, Played> = {
  matchGames: (opponent) =>
    "control" in opponent && opponent.control === "captured ciphertexts submitted" ? SUBMITTED_GAMES : MATCH_GAMES,
  join: joinPlayed,
};
