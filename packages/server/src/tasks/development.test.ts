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
