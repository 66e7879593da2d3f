/**
 * What a task will cost, before anyone deploys it: guarantees, errors and sizes, of one metric and of a whole task.
 * What is special about a statistic is in its own entry. May import everything but `device`. Start reading at
 * `metric.ts`, then at `task.ts`.
 */
export {
  BUDGET_DELTA,
  type Budget,
  budgetFor,
  type Cost,
  gaussianCost,
  isWithinBudget,
  MOST_BUDGET_DAYS,
  MOST_BUDGET_EPSILON,
  pureCost,
  sumOfCosts,
} from "../privacy/accounting/budget.ts";
export { answerCostOf } from "../statistic/answer-cost.ts";
export type { Goal, MetricPlan, Question } from "../statistic/question.ts";
export {
  type BudgetChange,
  type BudgetPlan,
  type BudgetQuestion,
  planBudget,
  windowsIn,
} from "./budget.ts";
export { type ErrorAt, errorsByDevices, errorsByEpsilon } from "./curve.ts";
export { type DetectQuestion, type DevicesQuestion, devicesToDetect, localEpsilonToDetect } from "./detect.ts";
export { planMetric, reportingDevices } from "./metric.ts";
export { type PlanParameters, parametersFor } from "./parameters.ts";
export { drawSample, type PlannedError, standardErrorAt } from "./sample.ts";
export {
  DEFAULT_DELTA,
  metricQuestion,
  planTask,
  planTotals,
  type TaskPlan,
  type TaskQuestion,
  type TotalCost,
} from "./task.ts";
export { planTwoServerMetric, type TwoServerMetricPlan, type TwoServerQuestion } from "./two-server.ts";
