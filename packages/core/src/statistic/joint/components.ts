import { type Field, type Fields, list, name, object, oneOf, refuseUnknown, union, whole } from "../../schema/index.ts";
import { NONE } from "../automaton/parts.ts";
import { choiceLabels } from "../choice/choice.ts";
import { keep } from "../choice/fields.ts";
import { funnelLabels } from "../funnel/funnel.ts";
import { bucketName } from "../histogram/histogram.ts";
import { edges, eventNames } from "../metric-fields.ts";
import { MOST_RETENTION_PERIODS, retentionLabels } from "../retention/retention.ts";
import { MOST_TICKS } from "../writes.ts";
import type { Component, ComponentName, ComponentSettings } from "./joint.ts";

/** How a side of a table is written in a task, and its categories. */
interface ComponentForm<Name extends ComponentName> {
  readonly fields: Fields<ComponentSettings[Name]>;
  labels(settings: ComponentSettings[Name]): readonly string[];
}

const FORMS: { readonly [Name in ComponentName]: ComponentForm<Name> } = {
  occurrence: { fields: { event: name }, labels: ({ event }) => [NONE, event] },
  histogram: { fields: { event: name, edges }, labels: bucketNames },
  funnel: { fields: { steps: eventNames }, labels: funnelLabels },
  choice: { fields: { options: eventNames, keep }, labels: choiceLabels },
  "active-periods": { fields: { event: name, periodTicks: whole(1, MOST_TICKS), edges }, labels: bucketNames },
  retention: { fields: { event: name, periods: whole(2, MOST_RETENTION_PERIODS) }, labels: retentionLabels },
};

const NAMES = Object.keys(FORMS) as ComponentName[];

function bucketNames({ edges: begins }: { readonly edges: readonly number[] }): readonly string[] {
  return begins.map((_, bucket) => bucketName(begins, bucket));
}

function formOf(statistic: ComponentName): Field<Component> {
  const fields = { statistic: oneOf(statistic), ...FORMS[statistic].fields };
  return object(`a side of a table with statistic ${statistic}`, fields as unknown as Fields<Component>);
}

/** The two sides of a table. */
export const components: Field<readonly Component[]> = list(
  "statistics",
  union(NAMES.map(formOf), (path, found) => {
    // Which fields there are depends on the statistic, so its name is looked at first.
    if (found.statistic === undefined) {
      refuseUnknown(path, found, "a side of a table", Object.assign({}, ...NAMES.map((each) => FORMS[each].fields)));
    }
    return formOf(oneOf(...NAMES)(`${path}.statistic`, found.statistic));
  }),
  2,
  2,
);

/** The categories of a side. */
export function componentLabels(component: Component): readonly string[] {
  const { labels } = FORMS[component.statistic] as ComponentForm<ComponentName>;
  return labels(component as ComponentSettings[ComponentName]);
}
