import type { Bug } from "./bugs.ts";
import type { Engine } from "./engine.ts";
import type { History } from "./history.ts";
import type { Violation } from "./oracle.ts";
import { type Outcome, runHistory } from "./run.ts";

/** In one of this many histories the events are left out in a second run, whose traces must be the same. */
const COMPARED = 4;

/** Runs a history, and compares it with itself where its seed says so. */
export async function checkHistory(
  history: History,
  engines: readonly Engine[],
  bug?: Bug,
): Promise<Outcome & { readonly runs: number }> {
  const outcome = await runHistory(history, engines, { bug, hasEvents: true });
  if (outcome.violations.length > 0 || history.seed % COMPARED !== 0) return { ...outcome, runs: 1 };
  const quiet = await runHistory(history, engines, { bug, hasEvents: false });
  const violations: Violation[] = [];
  for (const [device, trace] of outcome.traces) {
    const other = quiet.traces.get(device) ?? [];
    const place = trace.findIndex((line, i) => line !== other[i]);
    if (place < 0 && trace.length === other.length) continue;
    const detail = `${device}: ${trace[place] ?? "nothing"} with events, ${other[place] ?? "nothing"} without`;
    violations.push({ rule: "writes and requests depend on time only", detail });
  }
  return { ...outcome, violations, runs: 2 };
}
