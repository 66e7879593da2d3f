import { informationTheoreticError, responseError, Z95 } from "../../estimate/index.ts";
import { requireEpsilon } from "../../privacy/epsilon.ts";
import { aggregateCharge, hijackedCharge, pureCharge } from "../../privacy/index.ts";
import type { PlanningPart } from "../entry.ts";
import { guaranteesOf, hijackedEpsilonOf, type MetricPlan, type Question } from "../question.ts";
import { writesIn } from "../writes.ts";

const ANSWERS = { mechanism: "randomized-response" } as const;

function planOccurrence(question: Question): MetricPlan {
  const { devices, reporting, ticks } = question;
  const guarantees = guaranteesOf(question, ANSWERS);
  const standardError = responseError(devices, guarantees.localEpsilon);
  return {
    ...ANSWERS,
    ...guarantees,
    reporting,
    hijackedEpsilon: hijackedEpsilonOf(question, guarantees.localEpsilon, ANSWERS),
    standardError,
    largestStandardError: standardError,
    detectable: Math.ceil(Z95 * standardError),
    informationTheoreticStandardError: informationTheoreticError(standardError, ticks, devices),
    spec: { statistic: "occurrence", ...writesIn(question), localEpsilons: [guarantees.localEpsilon] },
  };
}

/** What occurrences cost. */
export const occurrencePlanning: PlanningPart<"occurrence"> = {
  settings: ["metrics"],
  check: ({ goal }) => {
    if ("localEpsilon" in goal) requireEpsilon(goal.localEpsilon);
  },
  plan: planOccurrence,
  charges: (_, { localEpsilon, reporting }) => ({
    local: (times) => pureCharge(localEpsilon, times),
    release: (times) => aggregateCharge(reporting, localEpsilon, ANSWERS, times),
    hijacked: (times, patience) => hijackedCharge(reporting - 1, localEpsilon, ANSWERS, times, patience),
  }),
  rangeOf: ({ devices }) => devices,
};
