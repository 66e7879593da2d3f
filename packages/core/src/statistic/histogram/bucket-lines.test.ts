import { describe, expect, it } from "vitest";
import { answeredBits } from "../automaton/sealing.ts";
import { type Move, repeated, type Slots } from "../automaton/slots.ts";
import { bucketLines } from "./bucket-lines.ts";
import { bucketOf } from "./histogram.ts";

/** Instead of a sharing: shows its bit, and is itself wherever it is moved. */
interface Marked {
  readonly bit: number;
}

/** Of moves that have no sums. */
const moved = (state: readonly Marked[], move: Move): Marked[] =>
  move.map((sources) => {
    if (typeof sources === "number") return { bit: sources };
    expect(sources).toHaveLength(1);
    return state[sources[0] as number] as Marked;
  });
const started = ({ initial }: Slots): Marked[] => initial.map((bit) => ({ bit }));

/** All lists of edges whose last is `top`. */
function edgesUpTo(top: number): number[][] {
  return Array.from({ length: 2 ** (top - 1) }, (_, chosen) => [
    0,
    ...Array.from({ length: top - 1 }, (_, i) => i + 1).filter((edge) => (chosen >> (edge - 1)) & 1),
    top,
  ]);
}

const linesOf = (edges: readonly number[]) => bucketLines("clicks", edges);

describe("lines of bits, one for each width of buckets", () => {
  it("all edges up to 8, all counts: the report is the true bucket, of as many sharings as there are buckets", () => {
    let cases = 0;
    for (const top of [1, 2, 3, 4, 5, 6, 7, 8]) {
      for (const edges of edgesUpTo(top)) {
        const lines = linesOf(edges);
        let state = started(lines);
        for (let count = 0; count <= 2 * top + 1; count++) {
          const report = moved(state, lines.fronts);
          expect(report.map(({ bit }) => bit)).toEqual(edges.map((_, b) => Number(b === bucketOf(edges, count))));
          expect(new Set(report).size).toBe(edges.length);
          cases++;
          state = moved(state, lines.onEvent(0, 0));
        }
      }
    }
    expect(cases).toBe(4096);
  });

  it("an event moves sharings and adds fresh ones; none is ever in two places", () => {
    for (const edges of edgesUpTo(6)) {
      const lines = linesOf(edges);
      let state = started(lines);
      for (let count = 0; count < 14; count++) {
        expect(state).toHaveLength(lines.initial.length);
        expect(new Set(state).size).toBe(state.length);
        const next = moved(state, lines.onEvent(0, 0));
        const widths = new Set(edges.slice(1).map((edge, b) => edge - (edges[b] as number)));
        expect(next.filter((bit) => !state.includes(bit))).toHaveLength(widths.size + 1);
        state = next;
      }
    }
  });

  it.each([
    [[0, 1], 2],
    [[0, 1, 2, 5], 12],
    [[0, 1, 2, 5, 10], 27],
    [[0, 5, 10], 20],
    [Array.from({ length: 20 }, (_, i) => i), 38],
  ])("edges %j: %d bits are kept", (edges, bits) => {
    expect(linesOf(edges).initial.length).toBe(bits);
  });

  it("several events at once are the same as one after another", () => {
    for (const edges of edgesUpTo(5)) {
      const lines = linesOf(edges);
      let state = started(lines);
      for (let times = 1; times <= 12; times++) {
        state = moved(state, lines.onEvent(0, 0));
        const atOnce = moved(started(lines), repeated(lines.onEvent(0, 0), times));
        expect(atOnce).toEqual(state);
      }
    }
  });

  it("the responses decide over every bucket's bit", () => {
    const lines = linesOf([0, 1, 3]);
    const seal = answeredBits<Marked>(lines.fronts, () => [1, "keep", 0]).draw(() => {});
    const encryptor = { encrypt: (bit: number) => ({ bit }), rerandomize: (bit: Marked) => bit, move: moved };
    const report = seal(moved(started(lines), lines.onEvent(0, 0)), encryptor);
    expect(report.map(({ bit }) => bit)).toEqual([1, 1, 0]);
  });
});
