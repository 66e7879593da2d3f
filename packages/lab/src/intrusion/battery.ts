import { type Advantage, advantageOf } from "./exact-binomial.ts";
import { type Sample, trainClassifier } from "./logistic-regression.ts";
import { FEATURES, MEASURES, type Measure } from "./view.ts";

/** What an intruder looks at: one number, or all numbers through a classifier. */
export type Distinguisher = Measure | "classifier";

/** All distinguishers but the noise, which only the key holder sees. */
export const DISTINGUISHERS: readonly Distinguisher[] = [
  ...MEASURES.filter((measure) => measure !== "noise"),
  "classifier",
];

/** The advantage of one distinguisher. */
export interface Scored extends Advantage {
  readonly distinguisher: Distinguisher;
}

/**
 * Scores all distinguishers. A threshold, the meaning of its sides and the classifier's weights are learnt from the
 * first `training` games and scored on the others, so chance favours nobody. A coin chose the stream of each game:
 * without an advantage the number of right guesses is binomial, whatever the views are like. With an advantage that
 * differs from game to game this holds only approximately. Each interval misses with probability `level` at most.
 */
export function runBattery(
  games: Sample,
  training: number,
  level: number,
  distinguishers: readonly Distinguisher[] = DISTINGUISHERS,
): Scored[] {
  const learnt = part(games, 0, training);
  const heldOut = part(games, training, games.labels.length);
  return distinguishers.map((distinguisher) => {
    const guess = learn(distinguisher, learnt);
    let right = 0;
    for (let i = 0; i < heldOut.labels.length; i++) {
      if (guess(heldOut.features, i * FEATURES) === heldOut.labels[i]) right++;
    }
    return { distinguisher, ...advantageOf(heldOut.labels.length, right, level) };
  });
}

/** The label that the row of features beginning at `from` has, as far as one can tell. */
export type Guess = (features: Float32Array, from: number) => number;

/** Has a distinguisher learn from a sample; from an empty one it learns to say the same always. */
export function learn(distinguisher: Distinguisher, sample: Sample): Guess {
  return distinguisher === "classifier" ? learnToClassify(sample) : learnThreshold(sample, distinguisher);
}

function part({ features, labels }: Sample, from: number, to: number): Sample {
  return { features: features.subarray(from * FEATURES, to * FEATURES), labels: labels.subarray(from, to) };
}

function learnToClassify(learnt: Sample): Guess {
  const classify = trainClassifier(learnt, FEATURES);
  return (features, from) => (classify(features, from) > 0 ? 1 : 0);
}

/** Learns the threshold, and the side of it, with the largest advantage. */
function learnThreshold({ features, labels }: Sample, measure: Measure): Guess {
  const column = MEASURES.indexOf(measure);
  const order = Array.from(labels, (label, i) => ({ label, value: features[i * FEATURES + column] as number }));
  order.sort((a, b) => a.value - b.value);
  const ones = labels.reduce((sum, label) => sum + label, 0);
  const weights = [1 / (labels.length - ones), -1 / ones] as const;
  let [best, threshold, above] = [0, Number.NEGATIVE_INFINITY, 1];
  let excess = 0;
  for (const [i, { label, value }] of order.entries()) {
    excess += label === 1 ? weights[1] : weights[0];
    if (order[i + 1]?.value === value || Math.abs(excess) <= best) continue;
    [best, threshold, above] = [Math.abs(excess), value, excess > 0 ? 1 : 0];
  }
  return (all, from) => ((all[from + column] as number) > threshold ? above : 1 - above);
}
