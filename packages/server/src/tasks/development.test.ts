import { parseTask } from "@lethe/core/message";
import { expect, it } from "vitest";
import { EXACT_TASK } from "../../test/service.ts";
import { shortened } from "./development.ts";

it("in development a day's task runs in seconds, asks the same and can run", () => {
  const task = { ...EXACT_TASK, tickSeconds: 300, ticks: 288, graceSeconds: 86_400, minimumDevices: 1000 };
  const short = shortened(task);
  expect(short).toEqual({ ...task, tickSeconds: 1, ticks: 10, graceSeconds: 5, minimumDevices: 10 });
  expect(parseTask(JSON.stringify(short))).toEqual({ ...short, hides: 1000, missing: 0 });
});

it("what is shorter already stays as it is", () => {
  const task = { ...EXACT_TASK, tickSeconds: 1, ticks: 2, graceSeconds: 0, minimumDevices: 1 };
  expect(shortened(task)).toEqual(task);
});

it("metrics with periods have as many as before, in a window that is as long as it takes", () => {
  const of = [
    { statistic: "active-periods", event: "used", periodTicks: 2016, edges: [0, 1, 3] },
    { statistic: "occurrence", event: "paid" },
  ] as const;
  const metrics = [
    { name: "used", statistic: "active-periods", periodTicks: 288, edges: [0, 1, 8, 28], localEpsilon: 1 },
    { name: "weeks", statistic: "retention", event: "used", periods: 4, localEpsilon: 1 },
    { name: "both", statistic: "joint", of, localEpsilon: 1 },
  ] as const;
  const task = parseTask(JSON.stringify({ ...EXACT_TASK, ticks: 8064, metrics }));
  const short = shortened(task);
  expect(short).toMatchObject({
    ticks: 28,
    metrics: [{ periodTicks: 1 }, { periods: 4 }, { of: [{ periodTicks: 7 }, {}] }],
  });
  expect(parseTask(JSON.stringify(short))).toEqual(short);
});
