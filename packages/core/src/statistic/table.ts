import type { StatisticEntry } from "./entry.ts";
import { histogram } from "./histogram/entry.ts";
import { mean } from "./mean/entry.ts";
import { occurrence } from "./occurrence/entry.ts";
import type { StatisticName } from "./spec.ts";

/** All statistics. */
export const STATISTIC_TABLE: { readonly [Name in StatisticName]: StatisticEntry<Name> } = {
  occurrence,
  histogram,
  mean,
};

/** The entry of a statistic. Of a name that may be any, the entry takes what any of them takes. */
export function entryOf<Name extends StatisticName>(name: Name): StatisticEntry<Name> {
  return STATISTIC_TABLE[name];
}
