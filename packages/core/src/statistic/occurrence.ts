import type { LedgerResponse } from "../privacy/ledger-response.ts";
import { chooseLedgerBits, ledgerResponseWithBits } from "../privacy/ledger-response.ts";
import { MOST_TICKS, requireWhole } from "./statistic.ts";

/** On how many devices did it happen at least once? (CountNonZero of the paper.) */
export interface OccurrenceSpec {
  readonly ticks: number;
  /** One for every metric. */
  readonly localEpsilons: readonly number[];
}

export function checkOccurrence({ ticks, localEpsilons }: OccurrenceSpec): void {
  requireWhole("ticks", ticks, 1, MOST_TICKS);
  if (localEpsilons.length === 0) throw new RangeError("an occurrence statistic has at least one metric");
}

/** The responses of all metrics in slots of the same width. */
export function ledgerResponses(localEpsilons: readonly number[]): LedgerResponse[] {
  const bits = chooseLedgerBits(localEpsilons);
  return localEpsilons.map((epsilon) => ledgerResponseWithBits(epsilon, bits) as LedgerResponse);
}
