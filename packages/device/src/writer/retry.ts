import { type Randomness, uniformBelow } from "@lethe/core/device";
import type { Refusal } from "../service.ts";
import { report } from "./problems.ts";
import type { Attempt, WriterState } from "./state.ts";

const FIRST_RETRY_MS = 1000;
/** No wait between two attempts is longer. */
const MOST_WAIT_MS = 3_600_000;

/**
 * Does something if it is due, and never rejects. If it fails, reports why and plans the next attempt: after a random
 * time that doubles with each failure, from a second to an hour, and not before the service wants it. Once the signal
 * is aborted, nothing is tried and nothing is reported.
 */
export async function tryIfDue(state: WriterState, attempt: Attempt, act: () => Promise<void>): Promise<void> {
  const { clock, signal } = state;
  if (signal.aborted || attempt.at > clock()) return;
  try {
    await act();
  } catch (error) {
    if (signal.aborted) return;
    const wait = Math.min(FIRST_RETRY_MS * 2 ** attempt.failures++, MOST_WAIT_MS);
    const { retryAfter = 0 } = error as Partial<Refusal>;
    attempt.at = clock() + Math.max(1000 * retryAfter, wait / 2) + below(state.random, wait);
    report(state, error);
  }
}

/** A random time below a limit, in whole milliseconds. */
export function below(random: Randomness, milliseconds: number): number {
  return uniformBelow(random, Math.max(1, Math.floor(milliseconds)));
}
