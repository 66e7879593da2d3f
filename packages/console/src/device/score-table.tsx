import { chanceOf } from "@lethe/lab/duel";
import type { JSX } from "preact";
import { type Cell, DataTable } from "../chart/figure.tsx";
import { whole } from "../format/number.ts";
import type { Score } from "./score.ts";
import { chanceText, playersOf, verdictOf } from "./score-sentences.ts";

/** Everybody's right guesses, and how often a coin does as well. */
export function ScoreTable({ opponent, score }: { opponent: string; score: Score }): JSX.Element {
  return (
    <section class="scores" aria-label={`Score against ${opponent}`}>
      <h3>Score against {opponent}</h3>
      <p class="verdict">{verdictOf(score)}</p>
      <DataTable
        caption={`Right guesses against ${opponent}`}
        columns={["player", "right", "rounds", "a coin does as well"]}
        rows={playersOf(score).map(({ name, right, rounds }): Cell[] => {
          const chance = chanceOf(right, rounds);
          return [
            name,
            { text: whole(right), value: right },
            { text: whole(rounds), value: rounds },
            { text: rounds === 0 ? "–" : chanceText(chance), value: chance },
          ];
        })}
      />
      <p class="muted">
        “More than luck” means that of 1,000 such games, played by coins, less than one has a player who is that good.
        This page looks after every round, which gives luck some more chances. The distinguishers learn from earlier
        rounds only.
      </p>
    </section>
  );
}
