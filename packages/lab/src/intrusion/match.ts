import type { Randomness } from "@lethe/core/randomness";
import { inThreads } from "../parallel/in-threads.ts";
import { randomnessFromKey } from "../randomness/expanded-randomness.ts";
import { brokenMaker, type Fault } from "./controls.ts";
import { joinSamples, play } from "./games.ts";
import type { Sample } from "./logistic-regression.ts";
import { sdkMaker } from "./sdk.ts";
import { deviceMaker, type Subject } from "./subjects.ts";
import { type Arena as ArenaOf, type Match as MatchOf, playTournaments, type Tournament } from "./tournament.ts";

/**
 * Whose devices are played against: the real state machines, the SDK around one of them, or a small ledger with a fault
 * or without.
 */
export type Opponent =
  | Subject
  | { readonly through: "sdk" }
  | { readonly fault: Fault | undefined; readonly byKeyHolder: boolean };

/** Some games against one opponent. */
export type Match = MatchOf<Opponent>;

/** Plays the games of a match. */
export async function performMatch({ opponent, games, key }: Match): Promise<Sample> {
  const random = randomnessFromKey(key);
  if ("fault" in opponent) return play(brokenMaker(opponent.fault, opponent.byKeyHolder, random), games, random);
  if ("through" in opponent) return play(await sdkMaker(random), games, random);
  return play(await deviceMaker(opponent, random), games, random);
}

/** Performs all matches and passes on the games of each, in any order. */
export type Arena = ArenaOf<Opponent, Sample>;

/** Plays on all processors. */
export const inAllThreads: Arena = (matches, onPlayed) =>
  inThreads(new URL("./thread.js", import.meta.url), matches, onPlayed);

/** Plays in this thread: for a few games, for which threads would take longer to start. */
export const inThisThread: Arena = async (matches, onPlayed) => {
  for (const [i, match] of matches.entries()) onPlayed(await performMatch(match), i);
};

/** Games of a match: whole windows, which take a second or a few. */
const MATCH_GAMES: Readonly<Record<Subject["scheme"], number>> = { lattice: 3150, elgamal: 511 };

/** Plays all tournaments, and passes on the games of each when it is complete. */
export function playAll(
  tournaments: readonly Tournament<Opponent>[],
  arena: Arena,
  random: Randomness,
  onComplete: (games: Sample, tournament: number) => void,
  progress: (share: number) => void,
): Promise<void> {
  const matchGames = (opponent: Opponent): number => MATCH_GAMES["scheme" in opponent ? opponent.scheme : "lattice"];
  return playTournaments({ matchGames, join: joinSamples }, tournaments, arena, random, onComplete, progress);
}
