/**
 * Four attacks on a service, each played with Lethe's defence and without it, on the code that devices and servers run.
 * A file per attack; `attack.ts` says what an attack is and scores it, `captured-ledger.ts` is what an intruder can do
 * with a stored state. Imports core and `randomness`. The experiment `attacks` runs them. Start with `attack.ts`.
 */
import type { Attack } from "./attack.ts";
import { createLedger } from "./captured-ledger.ts";
import { doubleQuery } from "./double-query.ts";
import { keyAveraging } from "./key-averaging.ts";
import { replayAmplification } from "./replay-amplification.ts";
import { validityOracle } from "./validity-oracle.ts";

export { type Attack, type AttackName, type Score, score, wilsonInterval } from "./attack.ts";
export { LOCAL_EPSILON } from "./captured-ledger.ts";
export { CROWD } from "./replay-amplification.ts";

/** All four attacks, each against its own task. */
export function createAttacks(): Attack[] {
  const ledger = createLedger();
  return [replayAmplification(ledger), validityOracle(ledger), keyAveraging(ledger), doubleQuery];
}
