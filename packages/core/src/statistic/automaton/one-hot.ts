import type { Transitions } from "./counter.ts";
import { type Move, requireFewSlots, type Slots } from "./slots.ts";

/**
 * A slot for every state: the one-hot vector of the state. Every state has one successor, so preimages are disjoint. A
 * state has no slot if no output reads it and no symbol moves it to a state that has one, unless that symbol moves all
 * states there: then the new slot is a fresh 1. `states` lists the states that have slots.
 */
export function oneHotSlots(automaton: Transitions, isRead: (state: number) => boolean): Slots & { states: number[] } {
  requireFewSlots(automaton.states);
  const all = Array.from({ length: automaton.states }, (_, state) => state);
  const states = all.every(isRead) ? all : keptStates(automaton, all, isRead);
  const places = new Map(states.map((state, slot) => [state, slot]));

  function moveOf(next: (state: number) => number): Move {
    const targets = all.map(next);
    const [target] = targets;
    if (isConstant(targets)) return states.map((state) => (state === target ? 1 : 0));
    const sources: number[][] = states.map(() => []);
    for (const [slot, state] of states.entries()) {
      const place = places.get(targets[state] as number);
      if (place !== undefined) sources[place]?.push(slot);
    }
    return sources.map((each) => (each.length > 0 ? each : 0));
  }

  const { events, periods, periodTicks } = automaton;
  return {
    events,
    periods,
    periodTicks,
    states,
    initial: states.map((state) => (state === automaton.start ? 1 : 0)),
    onEvent: (event, period) => moveOf((state) => automaton.onEvent(event, state, period)),
    onEnd: (period) => moveOf((state) => automaton.onEnd(state, period)),
  };
}

function isConstant(targets: readonly number[]): boolean {
  return targets.every((target) => target === targets[0]);
}

/** The states that are read, and those from which a symbol leads to a state that is kept, in their order. */
function keptStates(automaton: Transitions, all: readonly number[], isRead: (state: number) => boolean): number[] {
  const sources = new Map(all.map((state) => [state, new Set<number>()]));
  const follow = (next: (state: number) => number): void => {
    const targets = all.map(next);
    if (!isConstant(targets)) for (const state of all) sources.get(targets[state] as number)?.add(state);
  };
  for (let period = 0; period < automaton.periods; period++) {
    for (const event of automaton.events.keys()) follow((state) => automaton.onEvent(event, state, period));
    follow((state) => automaton.onEnd(state, period));
  }
  const kept = new Set(all.filter(isRead));
  // A set that grows while it is walked is walked to its end.
  for (const state of kept) for (const source of sources.get(state) ?? []) kept.add(source);
  return all.filter((state) => kept.has(state));
}
