import type { Release } from "@lethe/core/message";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../../server/test/eventually.ts";
import { createTask, EXACT_TASK, startTestService, type TestService } from "../../server/test/service.ts";
import { type Lethe, type LetheError, type LetheOptions, memoryStore, openLethe } from "../dist/index.js";

const GROUPED = { ...EXACT_TASK, task: "grouped", minimumDevices: 2, groups: ["stable", "beta"] };
const HOUR = 3600;

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
  await createTask(service, GROUPED);
  await createTask(service, EXACT_TASK);
});
afterAll(() => service.remove());

interface Asked {
  readonly lethe: Lethe;
  /** The requests to enrol that it made. */
  readonly enrolments: readonly RequestInit[];
  readonly problems: readonly LetheError[];
}

async function open(changes: Partial<LetheOptions>): Promise<Asked> {
  const enrolments: RequestInit[] = [];
  const problems: LetheError[] = [];
  const lethe = await openLethe({
    server: service.url,
    task: GROUPED.task,
    operatorKey: service.operatorKey,
    clock: service.clock,
    store: memoryStore(),
    fetch: (url, init) => {
      if (init?.method === "POST") enrolments.push(init);
      return fetch(url, init);
    },
    onProblem: (problem) => problems.push(problem),
    ...changes,
  });
  return { lethe, enrolments, problems };
}

async function counting({ lethe }: Asked): Promise<void> {
  await eventually(async () => {
    service.clock.advance(1);
    await lethe.sendPending();
    return lethe.inspect().memory.length > 0 || undefined;
  });
}

it("a device counts in the group that its application states", async () => {
  const fleet = await Promise.all(["stable", "beta", "stable", "beta"].map((group) => open({ group })));
  for (const device of fleet) await counting(device);
  for (const [i, { lethe, enrolments }] of fleet.entries()) {
    if (i !== 1) lethe.record("happened");
    const body = String(enrolments[0]?.body);
    expect(JSON.parse(body)).toEqual({ group: i % 2 === 0 ? "stable" : "beta" });
    // Somebody who watches the network sees how long a request is, and must not see the group by it.
    expect(body).toHaveLength(JSON.stringify({ group: "x".repeat(64) }).length);
  }
  const { window } = await (fleet[0] as Asked).lethe.ready;
  service.clock.advance(EXACT_TASK.ticks * EXACT_TASK.tickSeconds);
  for (const { lethe } of fleet) await lethe.sendPending();
  service.clock.advance(EXACT_TASK.graceSeconds);
  const release = await eventually(async () => {
    const response = await fetch(`${service.url}/v1/tasks/grouped/releases/${window}`);
    return response.ok ? ((await response.json()) as Release) : undefined;
  });
  const found = release.groups?.map((group) => {
    const [metric] = group.status === "released" ? group.metrics : [];
    return [group.group, group.received, metric && "estimate" in metric && Math.round(metric.estimate)];
  });
  expect(found).toEqual([
    ["stable", 2, 2],
    ["beta", 2, 1],
  ]);
  for (const { lethe, problems } of fleet) {
    await lethe.close();
    expect(problems).toEqual([]);
  }
});

it("without a group the request is what it was, and a task without groups takes one", async () => {
  const plain = await open({ task: EXACT_TASK.task });
  await counting(plain);
  expect(plain.enrolments[0]).not.toHaveProperty("body");
  expect(plain.enrolments[0]).not.toHaveProperty("headers");
  const stating = await open({ task: EXACT_TASK.task, group: "beta" });
  await counting(stating);
  expect(stating.problems).toEqual([]);
  for (const { lethe } of [plain, stating]) await lethe.close();
});

describe("a group that the task does not have, or none", () => {
  it.each([{ group: "nightly" }, {}])(
    "%j is reported once, with the groups, and asked for once a day",
    async (changes) => {
      const asked = await open(changes);
      const { lethe, enrolments, problems } = asked;
      await eventually(async () => {
        await lethe.sendPending();
        return problems.length > 0 || undefined;
      });
      expect(problems[0]).toMatchObject({
        code: "bad-encoding",
        message: expect.stringMatching(/: pass one of them to openLethe as group: stable, beta$/),
      });
      const before = enrolments.length;
      for (let hour = 0; hour < 23; hour++) {
        service.clock.advance(HOUR);
        await lethe.sendPending();
      }
      expect(enrolments).toHaveLength(before);
      service.clock.advance(2 * HOUR);
      await eventually(async () => {
        await lethe.sendPending();
        return enrolments.length > before || undefined;
      });
      expect(problems).toHaveLength(1);
      await lethe.close();
    },
  );

  it("that is no text is refused at once", async () => {
    await expect(open({ group: 7 } as unknown as LetheOptions)).rejects.toThrow("the option group is a string");
  });
});
