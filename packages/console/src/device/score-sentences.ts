import { chanceOf, isBeyondLuck, PLAYERS } from "@lethe/lab/duel";
import { percent, whole } from "../format/number.ts";
import type { Score, Tally } from "./score.ts";

/** A player by name. */
export interface NamedTally extends Tally {
  readonly name: string;
}

/** The visitor, then the distinguishers. */
export function playersOf({ visitor, players }: Score): readonly NamedTally[] {
  return [
    { name: "you", ...visitor },
    ...PLAYERS.map((name) => ({ name, ...(players.get(name) ?? { right: 0, rounds: 0 }) })),
  ];
}

/** Who did better than luck explains. */
export function verdictOf(score: Score): string {
  const all = playersOf(score);
  if (all.every(({ rounds }) => rounds === 0)) return "Nobody has played yet.";
  const winners = all.filter(({ right, rounds }) => isBeyondLuck(chanceOf(right, rounds), all.length));
  if (winners.length === 0) return "Nobody is better than luck explains.";
  const names = winners.map(({ name, right, rounds }) => `${name} (${whole(right)} of ${whole(rounds)})`);
  return `More than luck: ${names.join(", ")}.`;
}

/** A probability: a percentage, or "1 in 12,345" if it is small. */
export function chanceText(chance: number): string {
  return chance >= 0.001 ? percent(chance) : `1 in ${whole(Math.floor(1 / chance))}`;
}
