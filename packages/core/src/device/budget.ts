/** What a device needs to keep within a budget. Loaded on demand: most tasks have none. */
export { type Budget, type Cost, isWithinBudget, sumOfCosts } from "../privacy/accounting/budget.ts";
export { answerCostOf } from "../statistic/answer-cost.ts";
