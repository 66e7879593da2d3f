import { type Manifest, parseTask } from "@lethe/core/message";
import { describe, expect, it } from "vitest";
import { check, templates } from "../planner/draft-jobs.ts";
import {
  nextVersionText,
  rangeOfProblem,
  readDraft,
  templateText,
  withMetric,
  withNumber,
  withoutMetric,
} from "./task-text.ts";

const [occurrence, , mean] = templates({ mode: "one-server" });
const TEXT = occurrence ? templateText(occurrence, "one-server") : "";

describe("a template", () => {
  it.each(["one-server", "two-server"] as const)("of every statistic is a task of %s that can run", (mode) => {
    const all = templates({ mode });
    expect(all.length).toBeGreaterThan(2);
    for (const template of all) {
      const task = parseTask(templateText(template, mode));
      expect(task).toMatchObject({ mode, metrics: [template.metric] });
    }
  });

  it("is printed as people write it: a metric on a line", () => {
    expect(TEXT).toBe(`{
  "version": 1,
  "task": "new-task",
  "tickSeconds": 300,
  "ticks": 288,
  "graceSeconds": 86400,
  "mode": "one-server",
  "minimumDevices": 1000,
  "metrics": [
    { "name": "export.failed", "statistic": "occurrence", "localEpsilon": 1 }
  ]
}
`);
  });
});

describe("a draft", () => {
  it("has what the sliders show, of a file that is wrong elsewhere", () => {
    expect(
      readDraft(`{"ticks":12,"missing":"x","nonsense":1,"metrics":[{"sigma":2},3,{"name":"a","localEpsilon":0.5}]}`),
    ).toEqual({
      ticks: 12,
      metrics: [
        { name: "metrics[0]", noise: "sigma", noiseValue: 2 },
        { name: "metrics[1]", noise: "localEpsilon" },
        { name: "a", noise: "localEpsilon", noiseValue: 0.5 },
      ],
    });
    for (const text of ["", "[]", "1", "null", `{"ticks":`]) expect(readDraft(text)).toBeUndefined();
  });

  it("takes numbers, metrics and names that are free, and stays a task", () => {
    const changed = withNumber(withNumber(TEXT, ["missing"], 0.2), ["metrics", 0, "localEpsilon"], 0.5);
    expect(parseTask(changed)).toMatchObject({ missing: 0.2, metrics: [{ localEpsilon: 0.5 }] });
    expect(changed).toContain(`"minimumDevices": 1000,\n  "missing": 0.2,\n  "metrics"`);
    if (!occurrence || !mean) throw new Error("no templates");
    const more = withMetric(withMetric(withMetric(TEXT, mean.metric), occurrence.metric), occurrence.metric);
    expect(parseTask(more).metrics.map(({ name }) => name)).toEqual([
      ...["export.failed", "tabs.opened", "export.failed-2", "export.failed-3"],
    ]);
    expect(withoutMetric(withoutMetric(withoutMetric(more, 3), 2), 1)).toBe(TEXT);
  });

  it("can be the next version of a task that a service has", () => {
    const task = parseTask(TEXT);
    const manifest: Manifest = { ...task, version: 7, fromWindow: 3, servers: [] };
    expect(parseTask(nextVersionText(manifest))).toEqual({ ...task, version: 8 });
  });
});

describe("the place of a problem", () => {
  const placed = (text: string): string | undefined => {
    const checked = check({ text });
    const range = "problem" in checked ? rangeOfProblem(text, checked.problem) : undefined;
    return range && text.slice(range.from, range.to);
  };

  it.each([
    [TEXT.replace("288", "0"), "0"],
    [TEXT.replace(`"localEpsilon": 1`, `"localEpsilon": 99`), "99"],
    [TEXT.replace(`"occurrence"`, `"occurence"`), `"occurence"`],
    [TEXT.replace(`, "localEpsilon": 1`, ""), `{ "name": "export.failed", "statistic": "occurrence" }`],
    [TEXT.replace(`"mode": "one-server"`, `"mode": "one-server", "extra": [1]`), "[1]"],
    [TEXT.replace("288", "x288"), "x"],
    [TEXT.replace("300,", "300"), `"`],
  ])("is what core names", (text, expected) => {
    expect(placed(text)).toBe(expected);
  });

  it("is nowhere if the whole file lacks something", () => {
    expect(placed(TEXT.replace(/ {2}"ticks".*\n/, ""))).toBeUndefined();
    expect(placed("{")).toBe("");
  });
});
