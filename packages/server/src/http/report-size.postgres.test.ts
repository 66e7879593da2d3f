import { type Metric, type Task, windowAt } from "@lethe/core/message";
import { parametersFor, planTask } from "@lethe/core/plan";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectProblem } from "../../test/problem.ts";
import { createTask, EXACT_TASK, startTestService, type TestService } from "../../test/service.ts";
import { makeTask, type Pair, SHARED_TASK, startPair } from "../../test/two-servers.ts";
import { reportLayoutOf } from "../storage/tasks.ts";

/** What the service says that a report has, when it gets one byte. */
async function requiredBytes({ url, clock }: TestService, task: Task): Promise<number> {
  const path = `/v1/tasks/${task.task}/windows/${windowAt(task, clock() / 1000)}/reports/${"A".repeat(22)}`;
  const headers = { "content-type": "application/octet-stream", authorization: "Bearer x" };
  const response = await fetch(url + path, { method: "PUT", headers, body: new Uint8Array(1) });
  const { detail } = await expectProblem(response, "wrong-size");
  return Number(/exactly (\d+) bytes/.exec(detail)?.[1]);
}

const plannedBytes = (task: Task): number =>
  planTask({ task, devices: 1000, missing: 0, delta: 1e-6, windows: 1 }).reportBytes;

const OCCURRENCE: Metric = { name: "happened", statistic: "occurrence", localEpsilon: 1 };
const HISTOGRAM = {
  name: "times",
  statistic: "histogram",
  edges: [0, 1, 2, 5],
  localEpsilon: 1,
  eventsPerTick: 3,
} as const;
const MEAN: Metric = { name: "average", statistic: "mean", limit: 5, sigma: 2, eventsPerTick: 3 };

describe("a report of one server's task has as many bytes as its plan says", () => {
  const lists: readonly (readonly Metric[])[] = [
    [OCCURRENCE],
    [{ ...HISTOGRAM, mechanism: "kary" }],
    [{ ...HISTOGRAM, mechanism: "unary" }],
    [{ ...HISTOGRAM, mechanism: "per-bucket" }],
    [MEAN],
    [OCCURRENCE, { ...OCCURRENCE, name: "other" }, HISTOGRAM, MEAN],
  ];
  const tasks = (["elgamal", "lattice"] as const).flatMap((scheme) =>
    lists.map((metrics, i): Task => ({ ...EXACT_TASK, task: `${scheme}-${i}`, scheme, hides: 20, metrics })),
  );
  let service: TestService;

  beforeAll(async () => {
    service = await startTestService({ keysAhead: 1 });
    for (const task of tasks) await createTask(service, task);
  });

  afterAll(() => service?.remove());

  it.each(tasks)("$task", async (task) => {
    const required = await requiredBytes(service, task);
    expect(plannedBytes(task)).toBe(required);
    const [part, ...others] = reportLayoutOf(task).layout;
    // The plan of a metric alone, without a task.
    if (part && others.length === 0)
      expect(parametersFor(part.spec, 1000, 1e-6, task.scheme).reportBytes).toBe(required);
  });
});

describe("a report of two servers' task has as many bytes as its plan says", () => {
  const lists: readonly (readonly Metric[])[] = [...SHARED_TASK.metrics.map((metric) => [metric]), SHARED_TASK.metrics];
  const tasks = lists.map((metrics, i): Task => ({ ...SHARED_TASK, task: `shared-${i}`, metrics }));
  let pair: Pair;

  beforeAll(async () => {
    pair = await startPair();
    for (const task of tasks) await makeTask(pair, task);
  });

  afterAll(() => pair?.remove());

  it.each(tasks)("$task", async (task) => {
    const required = await requiredBytes(pair.leader, task);
    expect(plannedBytes(task)).toBe(required);
    const [part, ...others] = reportLayoutOf(task).layout;
    if (part && others.length === 0) expect(parametersFor(part.spec, 1000, 1e-6).reportBytes).toBe(required);
  });
});
