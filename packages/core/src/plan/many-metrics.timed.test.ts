import { expect, it } from "vitest";
import { parseTask } from "../message/index.ts";
import { planTask } from "./index.ts";

it("a thousand metrics and a year of windows are priced in seconds", () => {
  const task = parseTask(
    JSON.stringify({
      version: 1,
      task: "editor-health",
      tickSeconds: 300,
      ticks: 288,
      hides: 0,
      graceSeconds: 0,
      mode: "one-server",
      scheme: "lattice",
      minimumDevices: 1000,
      metrics: [
        ...Array.from({ length: 1000 }, (_, i) => ({ name: `m${i}`, statistic: "occurrence", localEpsilon: 1 })),
        { name: "export.clicks", statistic: "histogram", edges: [0, 1, 2, 5], localEpsilon: 1, eventsPerTick: 1 },
        { name: "tabs.opened", statistic: "mean", limit: 10, sigma: 2, eventsPerTick: 1 },
      ],
    }),
  );
  const start = process.cpuUsage();
  const { total } = planTask({ task, devices: 5000, missing: 0, delta: 1e-6, windows: 365 });
  // Fifteen seconds of one processor, which others may use as well.
  expect(process.cpuUsage(start).user / 1e6).toBeLessThan(60);
  expect(total.local.epsilon).toBeGreaterThan(1000);
  expect(Number.isFinite(total.aggregate.epsilon)).toBe(true);
});
