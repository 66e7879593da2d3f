import { expect, it } from "vitest";
import { BUDGET, surviveBudgetKills } from "../../test/budget-kills.ts";

it.each([1, 2, 3, 4, 5])("52 windows with 150 kills, for the %s. time: the budget is never overspent", async () => {
  const result = await surviveBudgetKills(52, 150);
  console.log(JSON.stringify(result));
  expect(result.dearest).toBeLessThanOrEqual(BUDGET.epsilon);
  expect(result.kills).toBeGreaterThan(50);
  expect(result.skipped).toBeGreaterThan(10);
});
