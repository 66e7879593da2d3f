import type { Randomness } from "@lethe/core/randomness";
import { inThreads } from "../parallel/in-threads.ts";
import { bytesFrom } from "../randomness/bytes-from.ts";
import { RANDOMNESS_KEY_BYTES, randomnessFromKey } from "../randomness/expanded-randomness.ts";
import { brokenMaker, type Fault } from "./controls.ts";
import { joinSamples, play } from "./games.ts";
import type { Sample } from "./logistic-regression.ts";
import { sdkMaker } from "./sdk.ts";
import { deviceMaker, type Subject } from "./subjects.ts";

/**
 * Whose devices are played against: the real state machines, the SDK around one of them, or a small ledger with a fault
 * or without.
 */
export type Opponent =
  | Subject
  | { readonly through: "sdk" }
  | { readonly fault: Fault | undefined; readonly byKeyHolder: boolean };

/** Some games against one opponent: what a thread does in a few seconds. */
export interface Match {
  readonly opponent: Opponent;
  readonly games: number;
  /** The key of all of its randomness. */
  readonly key: Uint8Array;
}

/** Plays the games of a match. */
export async function performMatch({ opponent, games, key }: Match): Promise<Sample> {
  const random = randomnessFromKey(key);
  if ("fault" in opponent) return play(brokenMaker(opponent.fault, opponent.byKeyHolder, random), games, random);
  if ("through" in opponent) return play(await sdkMaker(random), games, random);
  return play(await deviceMaker(opponent, random), games, random);
}

/** Performs all matches and passes on the games of each, in any order. */
export type Arena = (matches: readonly Match[], onPlayed: (games: Sample, i: number) => void) => Promise<void>;

/** Plays on all processors. */
export const inAllThreads: Arena = (matches, onPlayed) =>
  inThreads(new URL("./thread.js", import.meta.url), matches, onPlayed);

/** Plays in this thread: for a few games, for which threads would take longer to start. */
export const inThisThread: Arena = async (matches, onPlayed) => {
  for (const [i, match] of matches.entries()) onPlayed(await performMatch(match), i);
};

/** A number of games against one opponent. */
export interface Tournament {
  readonly opponent: Opponent;
  readonly games: number;
}

/** Plays all tournaments, and passes on the games of each when it is complete. */
export async function playAll(
  tournaments: readonly Tournament[],
  arena: Arena,
  random: Randomness,
  onComplete: (games: Sample, tournament: number) => void,
  progress: (share: number) => void,
): Promise<void> {
  const matches = tournaments.flatMap(({ opponent, games }, tournament) =>
    matchesOf(opponent, games).map((size) => ({
      tournament,
      match: { opponent, games: size, key: bytesFrom(random, RANDOMNESS_KEY_BYTES) },
    })),
  );
  const played = new Map<number, Sample>();
  const isComplete = (tournament: number): boolean =>
    matches.every((match, i) => match.tournament !== tournament || played.has(i));
  let done = 0;
  progress(0);
  await arena(
    matches.map(({ match }) => match),
    (games, i) => {
      played.set(i, games);
      progress(++done / matches.length);
      const { tournament } = matches[i] as (typeof matches)[number];
      if (!isComplete(tournament)) return;
      const mine = matches.flatMap((match, j) => (match.tournament === tournament ? [j] : []));
      onComplete(joinSamples(mine.map((j) => played.get(j) as Sample)), tournament);
      // A hundred thousand views are tens of megabytes.
      for (const j of mine) played.set(j, { features: new Float32Array(), labels: new Uint8Array() });
    },
  );
}

/** Games of a match: whole windows, which take a second or a few. */
const MATCH_GAMES: Readonly<Record<Subject["scheme"], number>> = { lattice: 3150, elgamal: 511 };

/** Splits a tournament into matches. */
function matchesOf(opponent: Opponent, games: number): number[] {
  const size = MATCH_GAMES["scheme" in opponent ? opponent.scheme : "lattice"];
  return Array.from({ length: Math.ceil(games / size) }, (_, i) => Math.min(size, games - i * size));
}
