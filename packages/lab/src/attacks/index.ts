import type { Attack } from "./attack.ts";
import { createLedger } from "./captured-ledger.ts";
import { doubleQuery } from "./double-query.ts";
import { keyAveraging } from "./key-averaging.ts";
import { replayAmplification } from "./replay-amplification.ts";
import { validityOracle } from "./validity-oracle.ts";

export { type Attack, type AttackName, type Score, score, wilsonInterval } from "./attack.ts";
export { LOCAL_EPSILON } from "./captured-ledger.ts";
export { CROWD } from "./replay-amplification.ts";

/** All four, against tasks of their own. */
export function createAttacks(): Attack[] {
  const ledger = createLedger();
  return [replayAmplification(ledger), validityOracle(ledger), keyAveraging(ledger), doubleQuery];
}
