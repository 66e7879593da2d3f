import type { Distinguisher, Outcome, Side } from "@lethe/lab/duel";

/** Right guesses among all. */
export interface Tally {
  readonly right: number;
  readonly rounds: number;
}

/** Everybody's guesses against devices of one kind. */
export interface Score {
  readonly visitor: Tally;
  readonly players: ReadonlyMap<Distinguisher, Tally>;
}

/** Before the first round. */
export const NO_ROUNDS: Score = { visitor: { right: 0, rounds: 0 }, players: new Map() };

/** Adds a round. The visitor may have left it to the others. */
export function addOutcome(score: Score, { clicked, guesses }: Outcome, visitor: Side | undefined): Score {
  const players = new Map(score.players);
  for (const [player, guess] of guesses) players.set(player, added(players.get(player), guess === clicked));
  return { visitor: visitor === undefined ? score.visitor : added(score.visitor, visitor === clicked), players };
}

function added({ right, rounds }: Tally = { right: 0, rounds: 0 }, isRight: boolean): Tally {
  return { right: right + Number(isRight), rounds: rounds + 1 };
}
