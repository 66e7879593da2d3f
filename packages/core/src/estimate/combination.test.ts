import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type CategoryResponse, estimateCombination } from "./combination.ts";

/** The covariances of what a device of a category tells, from the probabilities of all that it can tell. */
function covariances({ ifOwn, ifOther, namesOne }: CategoryResponse, own: number, categories: number): number[][] {
  const named = Array.from({ length: categories }, (_, k) => (k === own ? ifOwn : ifOther));
  return named.map((p, i) =>
    named.map((q, j) => {
      if (i === j) return p * (1 - p);
      // Both at once: never if one is named, else independently.
      return (namesOne ? 0 : p * q) - p * q;
    }),
  );
}

const kary = (keep: number, categories: number): CategoryResponse => {
  const decoy = (1 - keep) / categories;
  return { ifOwn: keep + decoy, ifOther: decoy, namesOne: true };
};

describe("a sum over categories", () => {
  const size = fc.integer({ min: 2, max: 6 });
  const problem = size.chain((categories) =>
    fc.record({
      response: fc.oneof(
        fc.double({ min: 0.05, max: 0.9, noNaN: true }).map((keep) => kary(keep, categories)),
        fc
          .double({ min: 0.01, max: 0.45, noNaN: true })
          .map((noise): CategoryResponse => ({ ifOwn: 0.5, ifOther: noise, namesOne: false })),
      ),
      counts: fc.array(fc.integer({ min: 0, max: 1000 }), { minLength: categories, maxLength: categories }),
      weights: fc.array(fc.integer({ min: -3, max: 3 }), { minLength: categories, maxLength: categories }),
    }),
  );

  it("is estimated without bias, and with the error that the covariances of all answers give", () => {
    const property = fc.property(problem, ({ response, counts, weights }) => {
      const devices = counts.reduce((sum, count) => sum + count, 1);
      const all = counts.with(0, (counts[0] as number) + 1);
      const { ifOwn, ifOther } = response;
      const told = all.map((count) => count * ifOwn + (devices - count) * ifOther);
      const found = estimateCombination(response, told, devices, weights);
      const truth = all.reduce((sum, count, k) => sum + count * (weights[k] as number), 0);
      const variance = all.reduce((sum, count, own) => {
        const rows = covariances(response, own, all.length);
        const each = rows.flatMap((row, i) => row.map((c, j) => c * (weights[i] as number) * (weights[j] as number)));
        return sum + count * each.reduce((total, term) => total + term, 0);
      }, 0);
      const scale = devices / (ifOwn - ifOther);
      expect(Math.abs(found.estimate - truth)).toBeLessThan(1e-9 * scale);
      const stated = (found.standardError * (ifOwn - ifOther)) ** 2;
      expect(Math.abs(stated - variance)).toBeLessThan(1e-6 * devices);
    });
    fc.assert(property, { numRuns: 1000 });
  });

  it("of all categories is the number of devices, without error if devices name one", () => {
    const found = estimateCombination(kary(0.3, 4), [10, 20, 30, 40], 100, [1, 1, 1, 1]);
    expect(found.estimate).toBeCloseTo(100, 9);
    expect(found.standardError).toBeCloseTo(0, 6);
  });
});
