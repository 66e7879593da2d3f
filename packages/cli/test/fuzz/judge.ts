import { getHeapStatistics } from "node:v8";
import { type Target, wrongError, wrongResult } from "./target.ts";

/** An input may take this much processor time, in microseconds, the best of three attempts. */
const SLOW_US = 1_000_000;
/** What an input may allocate at once, beyond a thousand times its own size. */
const MOST_ALLOCATED = 64e6;

/** `accepted` or `refused`, as a decoder may; or what is wrong. */
export type Outcome = "accepted" | "refused" | { readonly wrong: string };

function allocated(): number {
  const { used_heap_size, external_memory } = getHeapStatistics() as ReturnType<typeof getHeapStatistics> & {
    readonly external_memory: number;
  };
  return used_heap_size + external_memory;
}

/** Tries one input and judges what became of it. */
export async function tryInput(target: Target, input: Uint8Array): Promise<Outcome> {
  return tryNow(target, input);
}

function judge(input: Uint8Array, started: NodeJS.CpuUsage, before: number, again?: Uint8Array): Outcome {
  const wrong = wrongCost(input, started, before) ?? wrongResult(input, again);
  return wrong === undefined ? "accepted" : { wrong };
}

function judgeError(
  target: Target,
  input: Uint8Array,
  started: NodeJS.CpuUsage,
  before: number,
  error: unknown,
): Outcome {
  const wrong = wrongCost(input, started, before) ?? wrongError(target, error);
  return wrong === undefined ? "refused" : { wrong };
}

function wrongCost({ length }: Uint8Array, started: NodeJS.CpuUsage, before: number): string | undefined {
  const more = allocated() - before;
  if (more > MOST_ALLOCATED + 1000 * length) return "allocated more than 64 MB";
  const { user, system } = process.cpuUsage(started);
  return user + system > SLOW_US ? "took more than a second" : undefined;
}

/** The same without a promise, for decoders that do not return one: thousands of inputs fit into a millisecond. */
export function tryNow(target: Target, input: Uint8Array): Outcome | Promise<Outcome> {
  const started = process.cpuUsage();
  const before = allocated();
  try {
    const result = target.run(input.slice());
    if (!(result instanceof Promise)) return judge(input, started, before, result);
    return result.then(
      (again) => judge(input, started, before, again),
      (error) => judgeError(target, input, started, before, error),
    );
  } catch (error) {
    return judgeError(target, input, started, before, error);
  }
}
