import { bucketErrors, informationTheoreticError } from "../estimate/index.ts";
import { type Answers, aggregateCharge, hijackedCharge, pureCharge } from "../privacy/index.ts";
import {
  bestMechanism,
  type HistogramMechanismName,
  MECHANISMS,
  requireHistogramEpsilon,
} from "./histogram/histogram.ts";
import {
  type Charges,
  type Guarantees,
  guaranteesOf,
  hijackedEpsilonOf,
  type MetricPlan,
  type Question,
} from "./question.ts";

/** What a device runs that answers by this mechanism. */
type SpecOf = (mechanism: HistogramMechanismName, localEpsilon: number) => MetricPlan["spec"];

/** The plan of a statistic in which every device is in one of `categories` categories. */
export function planCategories(question: Question, categories: number, specOf: SpecOf): MetricPlan {
  const { devices, reporting, ticks } = question;
  const { mechanism, guarantees } = chooseMechanism(question, categories);
  const { localEpsilon } = guarantees;
  const { empty, full, detectable } = bucketErrors(mechanism, devices, categories, localEpsilon);
  return {
    mechanism,
    ...guarantees,
    reporting,
    hijackedEpsilon: hijackedEpsilonOf(question, localEpsilon, { mechanism, buckets: categories }),
    standardError: empty,
    largestStandardError: Math.max(empty, full),
    detectable: Math.ceil(detectable),
    informationTheoreticStandardError: informationTheoreticError(empty, ticks, devices),
    spec: specOf(mechanism, localEpsilon),
  };
}

/**
 * The one named, or the device's choice at ε₀, or, for a release, that with the least error on average over the
 * categories.
 */
function chooseMechanism(
  question: Question,
  categories: number,
): { mechanism: HistogramMechanismName; guarantees: Guarantees } {
  const { devices, goal } = question;
  const known = question.mechanism ?? ("localEpsilon" in goal && bestMechanism(categories, goal.localEpsilon));
  const names = known ? [known] : MECHANISMS;
  const candidates = names.map((mechanism) => {
    const guarantees = guaranteesOf(question, { mechanism, buckets: categories });
    const { average } = bucketErrors(mechanism, devices, categories, guarantees.localEpsilon);
    return { mechanism, guarantees, average };
  });
  return candidates.reduce((best, candidate) => (candidate.average < best.average ? candidate : best));
}

/** Refuses a goal that no mechanism of categories has, before anything takes long. */
export function checkCategoryGoal({ goal, mechanism }: Question): void {
  if ("localEpsilon" in goal) requireHistogramEpsilon(goal.localEpsilon, mechanism);
}

/** What the answers of such a statistic cost. */
export function categoryCharges(
  categories: number,
  { mechanism, localEpsilon, reporting }: Pick<MetricPlan, "mechanism" | "localEpsilon" | "reporting">,
): Charges {
  const answers = { mechanism, buckets: categories } as Answers;
  return {
    local: (times) => pureCharge(localEpsilon, times),
    release: (times) => aggregateCharge(reporting, localEpsilon, answers, times),
    hijacked: (times, patience) => hijackedCharge(reporting - 1, localEpsilon, answers, times, patience),
  };
}
