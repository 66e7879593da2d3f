/** The game. Loaded after the view: it has the SDK and the lab's code. */
import type { Duel } from "@lethe/lab/duel";
import type { JSX } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Failure } from "../shell/states.tsx";
import { Board } from "./board.tsx";
import { OPPONENT_WORDS, OPPONENTS, type Opponent, openDuel } from "./opponents.ts";
import { NO_ROUNDS, type Score } from "./score.ts";
import { ScoreTable } from "./score-table.tsx";
import { ALONE, useRounds } from "./use-rounds.ts";

/** Two devices: which one clicked? The visitor guesses, and the lab's distinguishers play along. */
export function Game(): JSX.Element {
  const [opponent, setOpponent] = useState<Opponent>("lethe");
  const [scores, setScores] = useState<Readonly<Partial<Record<Opponent, Score>>>>({});
  // Kept while others are played against: the distinguishers have learnt from their rounds.
  const duels = useRef(new Map<Opponent, Promise<Duel>>());
  const { title, about } = OPPONENT_WORDS[opponent];
  const score = scores[opponent] ?? NO_ROUNDS;

  async function play(): ReturnType<Duel["play"]> {
    const duel = duels.current.get(opponent) ?? openDuel(opponent);
    duels.current.set(opponent, duel);
    duel.catch(() => duels.current.delete(opponent));
    return (await duel).play();
  }

  return (
    <section class="game" aria-label="Which one clicked?">
      <h2>Which one clicked?</h2>
      <p>
        Two devices run for four ticks. A coin chooses one of them, and on that one somebody clicks in every tick but
        the first. You see everything that both stored. Guess; the distinguishers of Lethe's lab see the same and guess
        too.
      </p>
      <label>
        Play against{" "}
        <select value={opponent} onChange={(event) => setOpponent(event.currentTarget.value as Opponent)}>
          {OPPONENTS.map((each) => (
            <option key={each} value={each}>
              {OPPONENT_WORDS[each].title}
            </option>
          ))}
        </select>
      </label>
      <p class="muted about">{about}</p>
      <Rounds
        key={opponent}
        play={play}
        update={(change) => setScores((all) => ({ ...all, [opponent]: change(all[opponent] ?? NO_ROUNDS) }))}
      />
      <ScoreTable opponent={title} score={score} />
    </section>
  );
}

/** Rounds against one opponent, one after another. */
function Rounds({ play, update }: Parameters<typeof useRounds>[0]): JSX.Element {
  const { round, news, failure, isBusy, begin, guess, playAlone } = useRounds({ play, update });
  const board = useRef<HTMLDivElement>(null);
  const hasRound = round !== undefined;
  useLayoutEffect(() => {
    // The button that began the game is gone.
    if (hasRound) board.current?.focus({ preventScroll: true });
  }, [hasRound]);
  if (failure) return <Failure failure={failure} again={begin} />;
  return (
    <div class="panel">
      <div class="board" ref={board} tabIndex={-1}>
        {round ? (
          <Board round={round} isBusy={isBusy} onGuess={guess} />
        ) : (
          <button type="button" aria-disabled={isBusy} onClick={begin}>
            Play a round
          </button>
        )}
      </div>
      <p class="news" role="status">
        {isBusy ? "The devices run …" : news}
      </p>
      <button type="button" class="quiet" aria-disabled={isBusy} onClick={playAlone}>
        Let the distinguishers play {ALONE} rounds
      </button>
    </div>
  );
}
