import type { Automaton } from "./automaton.ts";

/** An automaton whose output is not said. */
export type Transitions = Omit<Automaton, "output">;

/**
 * Counts an event up to `top`, where it stays. With the output "at least one" it is the paper's Algorithm 2, with
 * buckets its Algorithm 3, with the count itself its Algorithm 4.
 */
export function counter(event: string, top: number): Transitions {
  return {
    states: top + 1,
    start: 0,
    events: [event],
    periods: 1,
    periodTicks: 1,
    onEvent: (_, count) => Math.min(count + 1, top),
    onEnd: (count) => count,
  };
}
