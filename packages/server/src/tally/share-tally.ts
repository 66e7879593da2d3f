import { type AggregateShare, answersIn, createAggregateShare, type TwoServerStatistic } from "@lethe/core/two-server";
import type { Tally } from "./sealed-tally.ts";

/** One of two servers' share of all sums, as a tally holds it: its bytes, in place of the first statistic's sums. */
export function aggregateIn({ sums: [bytes] }: Tally, statistics: readonly TwoServerStatistic[]): AggregateShare {
  return createAggregateShare(answersIn(statistics), bytes && Uint8Array.from(bytes));
}

export function tallyOf(aggregate: AggregateShare, invalid: number): Tally {
  return { sums: [[...aggregate.encode()]], invalid };
}
