import { readFileSync } from "node:fs";
import { parseTask, type Task } from "@lethe/core/message";
import { planTask } from "@lethe/core/plan";
import { createStatistic, STATISTICS } from "@lethe/core/statistic";
import { describe, expect, it } from "vitest";
import { TASK_FIELDS } from "../../../core/src/message/task-fields.ts";

const page = readFileSync(new URL("../../../../docs/tasks.md", import.meta.url), "utf8");
const tasks = [...page.matchAll(/```json\n(.*?)```/gs)].map(([, json = ""]) => json);
const [first = ""] = tasks;

/** The rows of a section's table whose first cell is a field, cell by cell. */
function rowsOf(heading: string): Map<string, readonly string[]> {
  const section = page.split("\n## ").find((text) => text.startsWith(heading)) ?? "";
  const rows = [...section.matchAll(/^\| `(\w+)` \|(.*)\|$/gm)];
  return new Map(rows.map(([, field = "", cells = ""]) => [field, cells.split("|").map((cell) => cell.trim())]));
}

/** The last cell, if it is code: fields in JSON. */
function exampleIn(cells: readonly string[]): object | undefined {
  const code = /^`(.*)`$/.exec(cells.at(-1) ?? "")?.[1];
  return code === undefined ? undefined : (JSON.parse(`{${code}}`) as object);
}

/** What core knows, by giving it a field that it does not. */
function knownFields(metric: object): readonly string[] {
  try {
    TASK_FIELDS.metrics("metrics", [{ ...metric, nonsense: 1 }]);
  } catch (error) {
    return ((error as Error).cause as { known: readonly string[] }).known;
  }
  throw new Error("core accepts nonsense");
}

describe("docs/tasks.md", () => {
  const ofTask = rowsOf("Fields of a task");
  const ofMetric = rowsOf("Fields of a metric");

  it("has a row for every field of a task, and for no other", () => {
    expect([...ofTask.keys()].toSorted()).toEqual(Object.keys(TASK_FIELDS).toSorted());
  });

  it("has a row for every field of every kind of metric, and for no other", () => {
    const kinds = STATISTICS.map((statistic) => ({ statistic }));
    const counted = kinds.slice(0, 2).map((kind) => ({ ...kind, noise: "servers" }));
    const numbers = { statistic: "automaton", sigma: 1 };
    const known = new Set([...kinds, ...counted, numbers].flatMap(knownFields));
    expect([...ofMetric.keys()].toSorted()).toEqual([...known].toSorted());
  });

  it("has whole tasks that can run", () => {
    expect(tasks.length).toBe(5);
    for (const task of tasks) parseTask(task);
  });

  it.each([...ofTask])("%s has an example that can run", (_field, cells) => {
    parseTask(JSON.stringify({ ...(JSON.parse(first) as Task), ...exampleIn(cells) }));
    expect(exampleIn(cells)).toBeDefined();
  });

  it.each([...ofMetric])(
    "%s of a metric, too, in every statistic that has it",
    (field, [statistics = "", ...cells]) => {
      const example = exampleIn(cells) ?? {};
      const task = JSON.parse(first) as Task;
      const { ticks, metrics: automata } = JSON.parse(tasks.at(-1) ?? "") as Task;
      const metrics = [...task.metrics, ...automata]
        .filter(({ statistic }) => statistics === "all" || statistics.split(", ").includes(statistic))
        .map(({ ...metric }) => {
          if ("noise" in example) delete (metric as { localEpsilon?: number }).localEpsilon;
          return { ...metric, ...example };
        });
      expect(metrics.length).toBe(statistics === "all" ? STATISTICS.length : statistics.split(", ").length);
      const mode = field === "noise" ? "two-server" : "one-server";
      const named = field === "name" ? metrics.slice(0, 1) : metrics;
      parseTask(JSON.stringify({ ...task, ticks, mode, metrics: named }));
    },
  );

  it("has the sizes of the task that it begins with, and of 1,000 occurrences", () => {
    const task = parseTask(first);
    const { stateBytes, reportBytes } = planTask({ task, devices: 1000, delta: 1e-6, windows: 1 });
    expect(page).toContain(
      `${stateBytes.toLocaleString("en")} bytes of state and a report of ${reportBytes.toLocaleString("en")} bytes`,
    );
    const rows = [...page.matchAll(/^\| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \|$/gm)];
    expect(rows.length).toBe(4);
    for (const [, ...cells] of rows) {
      const [hides, state, report] = cells.map((cell) => Number(cell.replaceAll(",", "")));
      const localEpsilons = new Array<number>(1000).fill(1);
      const spec = { statistic: "occurrence", ticks: 288, hides, localEpsilons } as const;
      expect(createStatistic("lattice", spec).device.bytes).toMatchObject({ state, report });
    }
  });
});
