import { describe, expect, it } from "vitest";
import type { Encryptor } from "../paper/ciphertext-vector.ts";
import { bucketLines } from "./bucket-lines.ts";
import { bucketOf } from "./histogram.ts";

/** Instead of a sharing: shows its bit, and is itself wherever it is moved. */
interface Marked {
  readonly bit: number;
}

const marked: Encryptor<Marked> = { encrypt: (bit) => ({ bit }), rerandomize: (bit) => bit };
const noDraw = (): void => {};

/** All lists of edges whose last is `top`. */
function edgesUpTo(top: number): number[][] {
  return Array.from({ length: 2 ** (top - 1) }, (_, chosen) => [
    0,
    ...Array.from({ length: top - 1 }, (_, i) => i + 1).filter((edge) => (chosen >> (edge - 1)) & 1),
    top,
  ]);
}

const keepAll = (edges: readonly number[]) => bucketLines<Marked>(edges, () => edges.map(() => "keep"));

describe("lines of bits, one for each width of buckets", () => {
  it("all edges up to 8, all counts: the report is the true bucket, of as many sharings as there are buckets", () => {
    let cases = 0;
    for (const top of [1, 2, 3, 4, 5, 6, 7, 8]) {
      for (const edges of edgesUpTo(top)) {
        const lines = keepAll(edges);
        let state = lines.initialize(marked);
        for (let count = 0; count <= 2 * top + 1; count++) {
          const report = lines.sendToServer(state, marked, noDraw);
          expect(report.map(({ bit }) => bit)).toEqual(edges.map((_, b) => Number(b === bucketOf(edges, count))));
          expect(new Set(report).size).toBe(edges.length);
          cases++;
          state = lines.update(state, 0, marked);
        }
      }
    }
    expect(cases).toBe(4096);
  });

  it("an event moves sharings and adds fresh ones; none is ever in two places", () => {
    for (const edges of edgesUpTo(6)) {
      const lines = keepAll(edges);
      let state = lines.initialize(marked);
      for (let count = 0; count < 14; count++) {
        expect(state).toHaveLength(lines.stateLength);
        expect(new Set(state).size).toBe(state.length);
        const next = lines.update(state, 0, marked);
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
    expect(keepAll(edges).stateLength).toBe(bits);
  });

  it("the responses decide over every bucket's bit", () => {
    const lines = bucketLines<Marked>([0, 1, 3], () => [1, "keep", 0]);
    const report = lines.sendToServer(lines.update(lines.initialize(marked), 0, marked), marked, noDraw);
    expect(report.map(({ bit }) => bit)).toEqual([1, 1, 0]);
  });
});
