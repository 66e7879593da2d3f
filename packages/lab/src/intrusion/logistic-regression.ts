/** Observations: a row of features and a label for each. */
export interface Sample {
  readonly features: Float32Array;
  readonly labels: Uint8Array;
}

/** Scores the row of features that begins at `from`: above 0 if label 1 is more likely. */
export type Classifier = (features: Float32Array, from: number) => number;

const STEPS = 8;
/** The penalty on squared weights. It keeps weights finite where the features determine the labels. */
const RIDGE = 0.1;

/** A step that increases the loss is halved, down to this share. */
const SMALLEST_SHARE = 1 / 64;

/**
 * Logistic regression on standardized features by Newton's method. Features that never change are left out.
 * Deterministic: the same observations give the same classifier.
 */
export function trainClassifier(sample: Sample, width: number): Classifier {
  const { columns, means, deviations } = standardization(sample.features, width);
  const size = columns.length + 1;
  const row = new Float64Array(size);
  const weights = new Float64Array(size);

  /** Fills `row`, with a 1 in front for the bias. */
  function standardize(features: Float32Array, from: number): void {
    row[0] = 1;
    for (let k = 1; k < size; k++) {
      const column = columns[k - 1] as number;
      row[k] = ((features[from + column] as number) - (means[column] as number)) / (deviations[column] as number);
    }
  }

  function scoreOfRow(): number {
    let score = 0;
    for (let k = 0; k < size; k++) score += (weights[k] as number) * (row[k] as number);
    return score;
  }

  /** What is minimized: −ln of the labels' probability, plus the penalty. */
  function loss(): number {
    let sum = weights.reduce((squares, weight) => squares + (RIDGE / 2) * weight ** 2, 0);
    for (let i = 0; i < sample.labels.length; i++) {
      standardize(sample.features, i * width);
      const score = scoreOfRow();
      const against = sample.labels[i] === 1 ? -score : score;
      sum += Math.max(against, 0) + Math.log1p(Math.exp(-Math.abs(against)));
    }
    return sum;
  }

  /** One step of Newton's method; false if it gains nothing. */
  function step(): boolean {
    const gradient = weights.map((weight) => -RIDGE * weight);
    const curvature = new Float64Array(size * size);
    for (let k = 0; k < size; k++) curvature[k * size + k] = RIDGE;
    for (let i = 0; i < sample.labels.length; i++) {
      standardize(sample.features, i * width);
      const probability = 1 / (1 + Math.exp(-scoreOfRow()));
      addObservation(gradient, curvature, row, (sample.labels[i] as number) - probability, probability);
    }
    const change = solvePositive(curvature, gradient);
    const [before, least] = [weights.slice(), loss()];
    for (let share = 1; share >= SMALLEST_SHARE; share /= 2) {
      for (let k = 0; k < size; k++) weights[k] = (before[k] as number) + share * (change[k] as number);
      if (loss() < least) return true;
    }
    // Nothing is gained; or the change is NaN.
    weights.set(before);
    return false;
  }

  for (let i = 0; i < STEPS; i++) if (!step()) break;
  return (features, from) => {
    standardize(features, from);
    return scoreOfRow();
  };
}

function standardization(features: Float32Array, width: number) {
  const rows = features.length / width;
  const means = new Float64Array(width);
  const deviations = new Float64Array(width);
  for (let i = 0; i < features.length; i++) means[i % width] = (means[i % width] as number) + (features[i] as number);
  for (let k = 0; k < width; k++) means[k] = (means[k] as number) / rows;
  for (let i = 0; i < features.length; i++) {
    const k = i % width;
    deviations[k] = (deviations[k] as number) + ((features[i] as number) - (means[k] as number)) ** 2;
  }
  for (let k = 0; k < width; k++) deviations[k] = Math.sqrt((deviations[k] as number) / rows);
  const columns = Array.from({ length: width }, (_, k) => k).filter(
    (k) => (deviations[k] as number) > 1e-9 * (1 + Math.abs(means[k] as number)),
  );
  return { columns, means, deviations };
}

/** Adds one observation to the gradient and to the lower half of the curvature, which is symmetric. */
function addObservation(
  gradient: Float64Array,
  curvature: Float64Array,
  row: Float64Array,
  residual: number,
  probability: number,
): void {
  const size = row.length;
  const weight = probability * (1 - probability);
  for (let k = 0; k < size; k++) {
    const value = row[k] as number;
    gradient[k] = (gradient[k] as number) + residual * value;
    const scaled = weight * value;
    for (let l = 0; l <= k; l++) {
      curvature[k * size + l] = (curvature[k * size + l] as number) + scaled * (row[l] as number);
    }
  }
}

/** Solves A·x = b by Cholesky, for a positive A of which the lower half is given. Overwrites A. */
function solvePositive(a: Float64Array, b: Float64Array): Float64Array {
  const size = b.length;
  const at = (i: number, j: number): number => a[i * size + j] as number;
  for (let i = 0; i < size; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = at(i, j);
      for (let k = 0; k < j; k++) sum -= at(i, k) * at(j, k);
      a[i * size + j] = i === j ? Math.sqrt(sum) : sum / at(j, j);
    }
  }
  const x = b.slice();
  for (let i = 0; i < size; i++) {
    for (let k = 0; k < i; k++) x[i] = (x[i] as number) - at(i, k) * (x[k] as number);
    x[i] = (x[i] as number) / at(i, i);
  }
  for (let i = size - 1; i >= 0; i--) {
    for (let k = i + 1; k < size; k++) x[i] = (x[i] as number) - at(k, i) * (x[k] as number);
    x[i] = (x[i] as number) / at(i, i);
  }
  return x;
}
