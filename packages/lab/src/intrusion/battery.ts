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
export interface Scored<Name extends string = Distinguisher> extends Advantage {
  readonly distinguisher: Name;
}

/** What a sample's columns are: how many, and which of them a distinguisher looks at if it looks at one number. */
export interface Columns<Name extends string> {
  readonly width: number;
  columnOf(name: Name): number;
}

/** Those of an intruder who holds no key. */
const VIEWS: Columns<Measure> = { width: FEATURES, columnOf: (measure) => MEASURES.indexOf(measure) };

/** Scores all distinguishers of an intruder who holds no key. */
export function runBattery(
  games: Sample,
  training: number,
  level: number,
  distinguishers: readonly Distinguisher[] = DISTINGUISHERS,
): Scored[] {
  return scoreAll(games, training, level, distinguishers, VIEWS);
}

/**
 * Scores all distinguishers. A threshold, the meaning of its sides and the classifier's weights are learnt from the
 * first `training` games and scored on the others, so chance favours nobody. A coin chose the stream of each game:
 * without an advantage the number of right guesses is binomial, whatever the views are like. With an advantage that
 * differs from game to game this holds only approximately. Each interval misses with probability `level` at most.
 */
export function scoreAll<Name extends string>(
  games: Sample,
  training: number,
  level: number,
  distinguishers: readonly (Name | "classifier")[],
  columns: Columns<Name>,
): Scored<Name | "classifier">[] {
  const { width } = columns;
  const learnt = part(games, width, 0, training);
  const heldOut = part(games, width, training, games.labels.length);
  return distinguishers.map((distinguisher) => {
    const guess = learnFrom(distinguisher, learnt, columns);
    let right = 0;
    for (let i = 0; i < heldOut.labels.length; i++) {
      if (guess(heldOut.features, i * width) === heldOut.labels[i]) right++;
    }
    return { distinguisher, ...advantageOf(heldOut.labels.length, right, level) };
  });
}

/** The label that the row of features beginning at `from` has, as far as one can tell. */
export type Guess = (features: Float32Array, from: number) => number;

/** Has a distinguisher learn from a sample; from an empty one it learns to say the same always. */
export function learn(distinguisher: Distinguisher, sample: Sample): Guess {
  return learnFrom(distinguisher, sample, VIEWS);
}

function learnFrom<Name extends string>(
  distinguisher: Name | "classifier",
  sample: Sample,
  { width, columnOf }: Columns<Name>,
): Guess {
  if (distinguisher === "classifier") return learnToClassify(sample, width);
  return learnThreshold(sample, width, columnOf(distinguisher as Name));
}

function part({ features, labels }: Sample, width: number, from: number, to: number): Sample {
  return { features: features.subarray(from * width, to * width), labels: labels.subarray(from, to) };
}

function learnToClassify(learnt: Sample, width: number): Guess {
  const classify = trainClassifier(learnt, width);
  return (features, from) => (classify(features, from) > 0 ? 1 : 0);
}

/** Learns the threshold, and the side of it, with the largest advantage. */
function learnThreshold({ features, labels }: Sample, width: number, column: number): Guess {
  const order = Array.from(labels, (label, i) => ({ label, value: features[i * width + column] as number }));
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
