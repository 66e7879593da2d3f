import type { Randomness } from "@lethe/core/randomness";
import { bytesFrom } from "../randomness/bytes-from.ts";
import { RANDOMNESS_KEY_BYTES } from "../randomness/expanded-randomness.ts";

/** Some games against one opponent: what a thread does in a few seconds. */
export interface Match<Opponent> {
  readonly opponent: Opponent;
  readonly games: number;
  /** The key of all of its randomness. */
  readonly key: Uint8Array;
}

/** Performs all matches and passes on the games of each, in any order. */
export type Arena<Opponent, Played> = (
  matches: readonly Match<Opponent>[],
  onPlayed: (games: Played, i: number) => void,
) => Promise<void>;

/** A number of games against one opponent. */
export interface Tournament<Opponent> {
  readonly opponent: Opponent;
  readonly games: number;
}

/** How tournaments are split into matches, and put together again. */
export interface Rules<Opponent, Played> {
  /** The most games of one match. */
  matchGames(opponent: Opponent): number;
  join(played: readonly Played[]): Played;
}

/** Plays all tournaments, and passes on the games of each when it is complete. */
export async function playTournaments<Opponent, Played>(
  { matchGames, join }: Rules<Opponent, Played>,
  tournaments: readonly Tournament<Opponent>[],
  arena: Arena<Opponent, Played>,
  random: Randomness,
  onComplete: (games: Played, tournament: number) => void,
  progress: (share: number) => void,
): Promise<void> {
  const matches = tournaments.flatMap(({ opponent, games }, tournament) =>
    partsOf(games, matchGames(opponent)).map((size) => ({
      tournament,
      match: { opponent, games: size, key: bytesFrom(random, RANDOMNESS_KEY_BYTES) },
    })),
  );
  const numbers = tournaments.map((_, i) => matches.flatMap(({ tournament }, j) => (tournament === i ? [j] : [])));
  const played = new Map<number, Played>();
  let done = 0;
  progress(0);
  await arena(
    matches.map(({ match }) => match),
    (games, i) => {
      played.set(i, games);
      progress(++done / matches.length);
      const { tournament } = matches[i] as (typeof matches)[number];
      const mine = numbers[tournament] as number[];
      if (!mine.every((j) => played.has(j))) return;
      onComplete(join(mine.map((j) => played.get(j) as Played)), tournament);
      // A hundred thousand views are tens of megabytes.
      for (const j of mine) played.delete(j);
    },
  );
}

function partsOf(games: number, most: number): number[] {
  return Array.from({ length: Math.ceil(games / most) }, (_, i) => Math.min(most, games - i * most));
}
