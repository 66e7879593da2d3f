/** One line of `npm run bench`. */
export interface Measurement {
  readonly name: string;
  readonly value: number;
  readonly unit: "µs" | "bytes" | "1/s" | "ratio";
  /** The value divided by that of one `@noble/curves` Ristretto base multiplication in the same run. */
  readonly ratio?: number;
}

/** Fewer and shorter ones are enough to see that it works; of calls that take longer than a round, the first. */
const [ROUNDS, ROUNDS_OF_ONE_CALL, MILLISECONDS_PER_ROUND] = process.argv.includes("--short")
  ? [6, 0, 20]
  : [12, 2, 40];
/** Preparation is not counted, but it must not make a round much longer. */
const WALL_MILLISECONDS_PER_ROUND = 200;

/** Microseconds per call of `task`, the best of several rounds: noise of the machine only ever adds time. */
export function microseconds(task: () => void): number {
  return microsecondsAfter(() => undefined, task);
}

/**
 * The same for a task that needs something made for it each time, which is not counted. A first round warms the code
 * up and finds how many calls fill a round; of calls that take longer than a round there are only a few.
 */
export function microsecondsAfter<T>(prepare: () => T, task: (prepared: T) => void): number {
  const roundEnds = performance.now() + WALL_MILLISECONDS_PER_ROUND;
  const warmUp = timeCalls(prepare, task, (_, elapsed) => {
    return elapsed < MILLISECONDS_PER_ROUND && performance.now() < roundEnds;
  });
  let best = warmUp.calls === 1 ? warmUp.milliseconds : Number.POSITIVE_INFINITY;
  for (let round = 0; round < (warmUp.calls === 1 ? ROUNDS_OF_ONE_CALL : ROUNDS); round++) {
    const { milliseconds } = timeCalls(prepare, task, (calls) => calls < warmUp.calls);
    best = Math.min(best, milliseconds / warmUp.calls);
  }
  return 1000 * best;
}

/** The unit of all ratios: a task whose best time of the run so far is refreshed by one round before every use. */
export function createUnit(task: () => void): () => number {
  let best = microseconds(task);
  const calls = Math.max(1, Math.round((1000 * MILLISECONDS_PER_ROUND) / best));
  return () => {
    const { milliseconds } = timeCalls(
      () => undefined,
      task,
      (done) => done < calls,
    );
    best = Math.min(best, (1000 * milliseconds) / calls);
    return best;
  };
}

function timeCalls<T>(
  prepare: () => T,
  task: (prepared: T) => void,
  again: (calls: number, milliseconds: number) => boolean,
): { calls: number; milliseconds: number } {
  let calls = 0;
  let milliseconds = 0;
  do {
    const prepared = prepare();
    const start = performance.now();
    task(prepared);
    milliseconds += performance.now() - start;
    calls++;
  } while (again(calls, milliseconds));
  return { calls, milliseconds };
}
