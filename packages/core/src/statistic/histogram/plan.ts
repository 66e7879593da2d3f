import { categoryCharges, checkCategoryGoal, planCategories } from "../category-plan.ts";
import type { PlanningPart } from "../entry.ts";
import type { Settings } from "../question.ts";
import { writesIn } from "../writes.ts";
import { checkHistogram, type HistogramTypes } from "./histogram.ts";

/** What a device runs that is set up like this. */
export function histogramSpecOf(settings: Settings, localEpsilon: number): HistogramTypes["oneServer"] {
  const { edges, mechanism, eventsPerTick = 1 } = settings;
  const named = mechanism === undefined ? {} : { mechanism };
  return { statistic: "histogram", ...writesIn(settings), eventsPerTick, edges, localEpsilon, ...named };
}

/** What histograms cost. */
export const histogramPlanning: PlanningPart<"histogram"> = {
  settings: ["edges", "mechanism"],
  check: (question) => {
    checkHistogram({ ticks: question.ticks, edges: question.edges });
    checkCategoryGoal(question);
  },
  plan: (question) =>
    planCategories(question, question.edges.length, (mechanism, localEpsilon) =>
      histogramSpecOf({ ...question, mechanism }, localEpsilon),
    ),
  charges: ({ edges }, plan) => categoryCharges(edges.length, plan),
  rangeOf: ({ devices }) => devices,
};
