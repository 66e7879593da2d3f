import { bucketErrors, informationTheoreticError } from "../../estimate/index.ts";
import { type Answers, aggregateCharge, hijackedCharge, pureCharge } from "../../privacy/index.ts";
import type { PlanningPart } from "../entry.ts";
import {
  type Guarantees,
  guaranteesOf,
  hijackedEpsilonOf,
  type MetricPlan,
  type Question,
  type Settings,
} from "../question.ts";
import { writesIn } from "../writes.ts";
import {
  bestMechanism,
  checkHistogram,
  type HistogramMechanismName,
  type HistogramTypes,
  MECHANISMS,
  requireHistogramEpsilon,
} from "./histogram.ts";

function planHistogram(question: Question): MetricPlan {
  const { devices, reporting, ticks, edges } = question;
  const { mechanism, guarantees } = chooseMechanism(question);
  const { localEpsilon } = guarantees;
  const { empty, full, detectable } = bucketErrors(mechanism, devices, edges.length, localEpsilon);
  return {
    mechanism,
    ...guarantees,
    reporting,
    hijackedEpsilon: hijackedEpsilonOf(question, localEpsilon, { mechanism, buckets: edges.length }),
    standardError: empty,
    largestStandardError: Math.max(empty, full),
    detectable: Math.ceil(detectable),
    informationTheoreticStandardError: informationTheoreticError(empty, ticks, devices),
    spec: histogramSpecOf({ ...question, mechanism }, localEpsilon),
  };
}

/**
 * The one named, or the device's choice at ε₀, or, for a release, that with the least error on average over the
 * buckets.
 */
function chooseMechanism(question: Question): { mechanism: HistogramMechanismName; guarantees: Guarantees } {
  const { devices, edges, goal } = question;
  const known = question.mechanism ?? ("localEpsilon" in goal && bestMechanism(edges.length, goal.localEpsilon));
  const names = known ? [known] : MECHANISMS;
  const candidates = names.map((mechanism) => {
    const guarantees = guaranteesOf(question, { mechanism, buckets: edges.length });
    const { average } = bucketErrors(mechanism, devices, edges.length, guarantees.localEpsilon);
    return { mechanism, guarantees, average };
  });
  return candidates.reduce((best, candidate) => (candidate.average < best.average ? candidate : best));
}

/** What a device runs that is set up like this. */
export function histogramSpecOf(settings: Settings, localEpsilon: number): HistogramTypes["oneServer"] {
  const { edges, mechanism, eventsPerTick = 1 } = settings;
  const named = mechanism === undefined ? {} : { mechanism };
  return { statistic: "histogram", ...writesIn(settings), eventsPerTick, edges, localEpsilon, ...named };
}

/** What histograms cost. */
export const histogramPlanning: PlanningPart<"histogram"> = {
  settings: ["edges", "mechanism"],
  check: ({ ticks, edges, goal, mechanism }) => {
    checkHistogram({ ticks, edges });
    if ("localEpsilon" in goal) requireHistogramEpsilon(goal.localEpsilon, mechanism);
  },
  plan: planHistogram,
  charges: ({ edges }, { mechanism, localEpsilon, reporting }) => {
    const answers = { mechanism, buckets: edges.length } as Answers;
    return {
      local: (times) => pureCharge(localEpsilon, times),
      release: (times) => aggregateCharge(reporting, localEpsilon, answers, times),
      hijacked: (times, patience) => hijackedCharge(reporting - 1, localEpsilon, answers, times, patience),
    };
  },
  rangeOf: ({ devices }) => devices,
};
