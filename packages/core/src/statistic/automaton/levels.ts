import type { Transitions } from "./counter.ts";
import { type Move, requireFewSlots, type Slots } from "./slots.ts";

/**
 * Of an automaton whose states are levels that every symbol raises: slot j is whether the state is above j. Their sum is
 * the number of the state, with a slot less than the one-hot vector has. An automaton in which a symbol would need a
 * slot twice is refused with a `TypeError`.
 */
export function levelSlots(automaton: Transitions): Slots {
  const { states, start, events, periods, periodTicks } = automaton;
  requireFewSlots(states - 1);

  function moveOf(next: (state: number) => number): Move {
    const move = Array.from({ length: next(0) }, (): Move[number] => 1);
    for (let state = 1; state < states; state++) {
      const rise = next(state) - next(state - 1);
      // Above a level are, after the symbol, the states from here on.
      if (rise === 1) move.push([state - 1]);
      else if (rise !== 0) throw new TypeError("this automaton has no levels");
    }
    while (move.length < states - 1) move.push(0);
    return move;
  }

  return {
    events,
    periods,
    periodTicks,
    initial: Array.from({ length: states - 1 }, (_, level) => (start > level ? 1 : 0)),
    onEvent: (event, period) => moveOf((state) => automaton.onEvent(event, state, period)),
    onEnd: (period) => moveOf((state) => automaton.onEnd(state, period)),
  };
}
