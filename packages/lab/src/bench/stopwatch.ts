/** One line of `npm run bench`. */
export interface Measurement {
  readonly name: string;
  readonly value: number;
  readonly unit: "µs" | "bytes";
  /** The value divided by that of one `@noble/curves` Ristretto base multiplication in the same run. */
  readonly ratio?: number;
}

const ROUNDS = 12;
const MILLISECONDS_PER_ROUND = 40;

/**
 * Microseconds per call, the best of several rounds: noise of the machine only ever adds time. A first, uncounted
 * round warms the code up and finds how many calls fill a round.
 */
export function microseconds(task: () => void): number {
  let calls = 0;
  const warmUp = performance.now();
  do {
    task();
    calls++;
  } while (performance.now() - warmUp < MILLISECONDS_PER_ROUND);
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now();
    for (let i = 0; i < calls; i++) task();
    best = Math.min(best, (performance.now() - start) / calls);
  }
  return 1000 * best;
}
