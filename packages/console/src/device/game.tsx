/** The game. Loaded after the view: it has the SDK and the lab's code. */
import type { Duel, Round, Side } from "@lethe/lab/duel";
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Failure } from "../shell/states.tsx";
import { Board } from "./board.tsx";
import { OPPONENT_WORDS, OPPONENTS, type Opponent, openDuel } from "./opponents.ts";
import { addOutcome, NO_ROUNDS, type Score } from "./score.ts";
import { ScoreTable } from "./score-table.tsx";
import { asFailure } from "./use-device.ts";

/** Rounds that the distinguishers play at once. */
const ALONE = 20;

/** What the game shows: the round to guess, and what came of the last one. */
interface State {
  readonly round?: Round;
  readonly news: string;
  readonly failure?: ReturnType<typeof asFailure>;
  readonly isBusy: boolean;
}

const BEFORE: State = { news: "", isBusy: false };

/** Two devices: which one clicked? The visitor guesses, and the lab's distinguishers play along. */
export function Game(): JSX.Element {
  const [opponent, setOpponent] = useState<Opponent>("lethe");
  const [scores, setScores] = useState<Readonly<Partial<Record<Opponent, Score>>>>({});
  const { title, about } = OPPONENT_WORDS[opponent];
  const score = scores[opponent] ?? NO_ROUNDS;
  const update = (change: (score: Score) => Score): void =>
    setScores((all) => ({ ...all, [opponent]: change(all[opponent] ?? NO_ROUNDS) }));
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
      <Rounds key={opponent} opponent={opponent} update={update} />
      <ScoreTable opponent={title} score={score} />
    </section>
  );
}

/** Rounds against one opponent, one after another. */
function Rounds({
  opponent,
  update,
}: {
  opponent: Opponent;
  update: (change: (score: Score) => Score) => void;
}): JSX.Element {
  const [{ round, news, failure, isBusy }, setState] = useState<State>(BEFORE);
  const duel = useRef<Promise<Duel> | undefined>(undefined);
  const isShown = useRef(true);
  useEffect(
    () => () => {
      isShown.current = false;
    },
    [],
  );

  async function play(): Promise<Round> {
    duel.current ??= openDuel(opponent);
    return (await duel.current).play();
  }

  /** Does something that takes a moment, and shows the next round; `act` returns what to say. */
  async function busy(act: () => string | Promise<string>): Promise<void> {
    if (isBusy) return;
    setState((state) => ({ ...state, isBusy: true }));
    try {
      const said = await act();
      const next = await play();
      if (isShown.current) setState({ round: next, news: said, isBusy: false });
    } catch (error) {
      duel.current = undefined;
      if (isShown.current) setState({ ...BEFORE, failure: asFailure(error) });
    }
  }

  const guess = (side: Side): Promise<void> =>
    busy(() => {
      if (!round) return "";
      const outcome = round.reveal();
      update((score) => addOutcome(score, outcome, side));
      return `${side === outcome.clicked ? "Right" : "Wrong"}: it was ${NAMES[outcome.clicked]}. Here is the next round.`;
    });
  const playAlone = (): Promise<void> =>
    busy(async () => {
      for (let i = 0; i < ALONE && isShown.current; i++) {
        const outcome = (await play()).reveal();
        update((score) => addOutcome(score, outcome, undefined));
      }
      return `The distinguishers played ${ALONE} rounds without you.`;
    });

  if (failure) return <Failure failure={failure} again={() => void busy(() => "")} />;
  return (
    <div class="panel">
      {round ? (
        <Board round={round} names={NAMES} isBusy={isBusy} onGuess={(side) => void guess(side)} />
      ) : (
        <p class="unplayed">
          <button type="button" aria-disabled={isBusy} onClick={() => void busy(() => "")}>
            Play a round
          </button>
        </p>
      )}
      <p class="news" role="status">
        {isBusy ? "The devices run …" : news}
      </p>
      <button type="button" class="quiet" aria-disabled={isBusy} onClick={() => void playAlone()}>
        Let the distinguishers play {ALONE} rounds
      </button>
    </div>
  );
}

/** What the two devices are called. */
const NAMES: Readonly<Record<Side, string>> = { left: "device A", right: "device B" };
