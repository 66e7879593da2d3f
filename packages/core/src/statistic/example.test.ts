import { describe, expect, it } from "vitest";
import { parseTask } from "../message/index.ts";
import { planTask } from "../plan/index.ts";
import { entryOf, STATISTICS } from "./table.ts";

const FRAME = { version: 1, task: "example", graceSeconds: 86_400, minimumDevices: 1000 };

describe.each(STATISTICS)("the example of %s", (statistic) => {
  const { task, run, words } = entryOf(statistic);
  const { metric, tickSeconds, ticks } = task.example;
  const text = JSON.stringify({ ...FRAME, tickSeconds, ticks, mode: "one-server", metrics: [metric] });

  it("can run as it stands, and has a price", () => {
    const parsed = parseTask(text);
    expect(parsed.metrics).toMatchObject([metric]);
    expect(metric.statistic).toBe(statistic);
    const { metrics } = planTask({ task: parsed, devices: 20_000, delta: 1e-6, windows: 1 });
    expect(metrics[0]?.standardError).toBeGreaterThan(0);
  });

  it("can run with two servers, if the statistic can", () => {
    const asTwo = () => parseTask(text.replace("one-server", "two-server"));
    if (run.twoServers) expect(asTwo().metrics).toMatchObject([metric]);
    else expect(asTwo).toThrow("runs with one server only");
  });

  it("comes with the question that it answers", () => {
    expect(words.question).toMatch(/^[A-Z].{15,60}$/);
  });
});
