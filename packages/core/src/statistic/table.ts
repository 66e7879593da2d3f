import type { ActivePeriodsTypes } from "./active-periods/active-periods.ts";
import { activePeriods } from "./active-periods/entry.ts";
import { automaton } from "./automaton/entry.ts";
import type { AutomatonTypes } from "./automaton/general.ts";
import type { ChoiceTypes } from "./choice/choice.ts";
import { choice } from "./choice/entry.ts";
import type { StatisticEntry, TwoServerRun } from "./entry.ts";
import { funnel } from "./funnel/entry.ts";
import type { FunnelTypes } from "./funnel/funnel.ts";
import { histogram } from "./histogram/entry.ts";
import type { HistogramTypes } from "./histogram/histogram.ts";
import { joint } from "./joint/entry.ts";
import type { JointTypes } from "./joint/joint.ts";
import { mean } from "./mean/entry.ts";
import type { MeanTypes } from "./mean/mean.ts";
import { occurrence } from "./occurrence/entry.ts";
import type { OccurrenceTypes } from "./occurrence/occurrence.ts";
import { retention } from "./retention/entry.ts";
import type { RetentionTypes } from "./retention/retention.ts";
import type { SchemeName, StatisticName } from "./spec.ts";

/** The types of every statistic, by its name. `Types` of `spec.ts` describes them. */
export interface StatisticTypes {
  readonly occurrence: OccurrenceTypes;
  readonly histogram: HistogramTypes;
  readonly mean: MeanTypes;
  readonly funnel: FunnelTypes;
  readonly choice: ChoiceTypes;
  readonly "active-periods": ActivePeriodsTypes;
  readonly retention: RetentionTypes;
  readonly joint: JointTypes;
  readonly automaton: AutomatonTypes;
}

/** All statistics. */
export const STATISTIC_TABLE: { readonly [Name in StatisticName]: StatisticEntry<Name> } = {
  occurrence,
  histogram,
  mean,
  funnel,
  choice,
  "active-periods": activePeriods,
  retention,
  joint,
  automaton,
};

/** Their names. */
export const STATISTICS: readonly StatisticName[] = Object.keys(STATISTIC_TABLE) as StatisticName[];

/** The entry of a statistic. Of a name that may be any, the entry takes what any of them takes. */
export function entryOf<Name extends StatisticName>(name: Name): StatisticEntry<Name> {
  return STATISTIC_TABLE[name];
}

/** The schemes on which a statistic runs with one server. */
export function schemesOf(name: StatisticName): readonly SchemeName[] {
  return Object.keys(entryOf(name).run.oneServer) as SchemeName[];
}

/** How a statistic runs with two servers; a `RangeError` if it does not. */
export function twoServerRunOf<Name extends StatisticName>(name: Name): TwoServerRun<Name> {
  const { twoServers } = entryOf(name).run;
  if (!twoServers) throw new RangeError(`${name} runs with one server only`);
  return twoServers;
}
