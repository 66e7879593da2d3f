import type { LetheError } from "@lethe/core/error";
import type { Round, Side } from "@lethe/lab/duel";
import { useEffect, useRef, useState } from "preact/hooks";
import { DEVICE_NAMES } from "./opponents.ts";
import { addOutcome, type Score } from "./score.ts";
import { asFailure } from "./use-device.ts";

/** Rounds that the distinguishers play at once. */
export const ALONE = 20;

interface State {
  /** What the visitor is to guess. */
  readonly round?: Round;
  /** What came of the last round. */
  readonly news: string;
  readonly failure?: LetheError;
  readonly isBusy: boolean;
}

/** The rounds of a game against one opponent. While devices run, nothing else begins. */
export interface Rounds extends State {
  begin(): void;
  /** Decides the round, and begins the next. */
  guess(side: Side): void;
  /** Rounds without the visitor; then one with the visitor. */
  playAlone(): void;
}

/** `play` has the devices run, `update` changes the score. */
export function useRounds({
  play,
  update,
}: {
  readonly play: () => Promise<Round>;
  readonly update: (change: (score: Score) => Score) => void;
}): Rounds {
  const [state, setState] = useState<State>({ news: "", isBusy: false });
  const isBusy = useRef(false);
  const isShown = useRef(true);
  useEffect(
    () => () => {
      isShown.current = false;
    },
    [],
  );

  /** Does something that takes a moment, and shows the next round; `act` returns what to say then. */
  async function busy(act: () => string | Promise<string>): Promise<void> {
    if (isBusy.current) return;
    isBusy.current = true;
    setState((before) => ({ ...before, isBusy: true }));
    let next: State;
    try {
      const news = await act();
      next = { round: await play(), news, isBusy: false };
    } catch (error) {
      next = { news: "", failure: asFailure(error), isBusy: false };
    }
    isBusy.current = false;
    if (isShown.current) setState(next);
  }

  const { round } = state;
  return {
    ...state,
    begin: () => void busy(() => ""),
    guess: (side) =>
      void busy(() => {
        if (!round) return "";
        const outcome = round.reveal();
        update((score) => addOutcome(score, outcome, side));
        const verdict = side === outcome.clicked ? "Right" : "Wrong";
        return `${verdict}: it was ${DEVICE_NAMES[outcome.clicked]}. Here is the next round.`;
      }),
    playAlone: () =>
      void busy(async () => {
        for (let i = 0; i < ALONE && isShown.current; i++) {
          const outcome = (await play()).reveal();
          update((score) => addOutcome(score, outcome, undefined));
        }
        return `The distinguishers played ${ALONE} rounds without you. Here is one for you.`;
      }),
  };
}
