import type { Automaton } from "./automaton.ts";

/**
 * What a symbol does to slots. Entry j says what the new slot j is: the sum of these old slots, or, if it is a bit, a
 * fresh encryption of that bit. No old slot is in two entries, and nothing is copied: so slots that were independent
 * before a symbol are independent after it (docs/statistics.md).
 */
export type Move = readonly (0 | 1 | readonly number[])[];

/**
 * The encrypted bits that a device keeps of an automaton. Slot j is whether the state is in the j-th of some sets, which
 * are fixed; a symbol replaces each set by its preimage. No move is ever kept: a table of those that were used would be
 * a list of the events that happened.
 */
export interface Slots extends Pick<Automaton, "events" | "periods" | "periodTicks"> {
  /** What the slots are at the start. */
  readonly initial: readonly (0 | 1)[];
  onEvent(event: number, period: number): Move;
  onEnd(period: number): Move;
}

const MOST_SLOTS = 10_000;

/** Refuses with a `RangeError` more slots than a device can write. Lists of them are made afterwards. */
export function requireFewSlots(slots: number): void {
  if (slots <= MOST_SLOTS) return;
  throw new RangeError(
    `elgamal would keep ${slots} ciphertexts, and more than ${MOST_SLOTS} take minutes to write: lower the last of ` +
      "the edges, the limit or the number of metrics, or use the lattice scheme, with one server",
  );
}

/** One move after another, as one move. */
export function composed(first: Move, second: Move): Move {
  return second.map((sources) => {
    if (typeof sources === "number") return sources;
    const parts = sources.map((source) => first[source] as Move[number]);
    // The sets of slots that are added are disjoint: if one of them holds every state, the others hold none.
    if (parts.includes(1)) return 1;
    const all = parts.flatMap((part) => (typeof part === "number" ? [] : part));
    return all.length > 0 ? all : 0;
  });
}

/** The same move several times, at least once, as one move: by squaring, so that no work grows with `times`. */
export function repeated(move: Move, times: number): Move {
  let [square, left] = [move, times - 1];
  let result = move;
  while (left > 0) {
    if (left % 2 === 1) result = composed(result, square);
    left = Math.floor(left / 2);
    if (left > 0) square = composed(square, square);
  }
  return result;
}
