import { median } from "../arithmetic/averages.ts";

/** What a simulation times, in microseconds per call. */
export type Microseconds = Readonly<Record<"record" | "write" | "seal" | "open", number>>;

type Call = keyof Microseconds;

/** Times calls of four kinds. */
export interface Stopwatch {
  time<T>(call: Call, task: () => T): T;
  timeAsync<T>(call: Call, task: () => Promise<T>): Promise<T>;
  medians(): Microseconds;
}

/** Of each kind of call; more do not change a median. */
const SAMPLES = 10_000;

/** A stopwatch that has timed nothing yet. */
export function createStopwatch(): Stopwatch {
  const times: Record<Call, number[]> = { record: [], write: [], seal: [], open: [] };
  const note = (call: Call, start: number): void => {
    if (times[call].length < SAMPLES) times[call].push(1000 * (performance.now() - start));
  };
  return {
    time: (call, task) => {
      const start = performance.now();
      const result = task();
      note(call, start);
      return result;
    },
    timeAsync: async (call, task) => {
      const start = performance.now();
      const result = await task();
      note(call, start);
      return result;
    },
    medians: () => ({
      record: median(times.record),
      write: median(times.write),
      seal: median(times.seal),
      open: median(times.open),
    }),
  };
}
