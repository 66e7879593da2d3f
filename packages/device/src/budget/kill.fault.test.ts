import { expect, it } from "vitest";
import { BUDGET, surviveBudgetKills } from "../../test/budget-kills.ts";

it("52 windows, three tasks, three processes, 25 kills and clocks that jump: the budget is never overspent", async () => {
  const result = await surviveBudgetKills(52, 25);
  console.log(JSON.stringify(result));
  expect(result.dearest).toBeLessThanOrEqual(BUDGET.epsilon);
  // Else nothing would have been tested: the budget is used, not only kept.
  expect(result.dearest).toBeGreaterThan(3.5);
  expect(result.kills).toBeGreaterThan(10);
  expect(result.skipped).toBeGreaterThan(10);
  for (const task of ["answers", "mean"]) expect(result.left[task]).toBeGreaterThan(0);
});

it("the same processes with a budget that allows everything spend more", async () => {
  const result = await surviveBudgetKills(12, 3, { epsilon: 100, days: 1 });
  console.log(JSON.stringify(result));
  expect(result.dearest).toBeGreaterThan(BUDGET.epsilon);
});
