import { expect, it } from "vitest";
import { type Sample, trainClassifier } from "./logistic-regression.ts";

function sampleOf(rows: readonly (readonly [value: number, label: 0 | 1])[]): Sample {
  return {
    features: Float32Array.from(rows, ([value]) => value),
    labels: Uint8Array.from(rows, ([, label]) => label),
  };
}

it("is right where the features determine the label, and its scores are finite", () => {
  const rows = Array.from({ length: 40 }, (_, i) => [i, i < 20 ? 0 : 1] as const);
  const sample = sampleOf(rows);
  const classify = trainClassifier(sample, 1);
  for (const [i, [, label]] of rows.entries()) {
    expect(Number.isFinite(classify(sample.features, i))).toBe(true);
    expect(classify(sample.features, i) > 0).toBe(label === 1);
  }
});

it("is never worse than knowing nothing, with values that are far away as well", () => {
  const near = Array.from({ length: 400 }, (_, i) => [i % 7, i % 7 > 3 ? 1 : 0] as const);
  const sample = sampleOf([...near, [3e4, 0], [-3e4, 1], [9e5, 0]]);
  const classify = trainClassifier(sample, 1);
  const loss = sample.labels.reduce((sum, label, i) => {
    const score = classify(sample.features, i);
    return sum + Math.log1p(Math.exp(label === 1 ? -score : score));
  }, 0);
  expect(loss).toBeLessThanOrEqual(sample.labels.length * Math.LN2);
});

it("says the same of all if a feature is NaN", () => {
  const sample = sampleOf([
    [1, 0],
    [Number.NaN, 1],
    [2, 0],
    [3, 1],
  ]);
  expect(trainClassifier(sample, 1)(sample.features, 0)).toBe(0);
});
