import { encodeReport, type Release, type Task, windowAt } from "@lethe/core/message";
import { planTask } from "@lethe/core/plan";
import { afterAll, beforeAll, expect, it } from "vitest";
import { enrol, fetchTask, type KnownTask, reportFor, upload } from "../test/device.ts";
import { eventually } from "../test/eventually.ts";
import { closeByHand, createTask, EXACT_TASK, startTestService, type TestService } from "../test/service.ts";

/**
 * What a release states about privacy stands on what the operator vouches for, and on nothing that a stranger can send.
 */
const TASK: Task = {
  ...EXACT_TASK,
  minimumDevices: 8,
  missing: 0.25,
  metrics: [
    { name: "happened", statistic: "occurrence", localEpsilon: 1 },
    { name: "times", statistic: "histogram", edges: [0, 1, 2], localEpsilon: 1, eventsPerTick: 2 },
    { name: "average", statistic: "mean", limit: 4, sigma: 2, eventsPerTick: 2 },
  ],
};

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ keysAhead: 24 });
});
afterAll(() => service?.remove());

/** A stranger enrols, as anybody can, and sends bytes of the right length. */
async function forge(task: KnownTask, window: number): Promise<void> {
  const device = await enrol(service, task, window);
  const parts = task.layout.map((part) => crypto.getRandomValues(new Uint8Array(part.device.bytes.report)));
  expect((await upload(service, device, encodeReport(task.hash, parts))).status).toBe(201);
}

async function releaseWith(name: string, honest: number, forged: number): Promise<Release> {
  await createTask(service, { ...TASK, task: name });
  const task = await fetchTask(service, name);
  const window = windowAt(task.manifest, service.clock() / 1000);
  await Promise.all([
    ...Array.from({ length: honest }, () => reportFor(service, task, window, "happened")),
    ...Array.from({ length: forged }, () => forge(task, window)),
  ]);
  await closeByHand(service, name, window);
  return eventually(async () => {
    const response = await fetch(`${service.url}/v1/tasks/${name}/releases/${window}`);
    return response.status === 200 ? ((await response.json()) as Release) : undefined;
  });
}

const guaranteesOf = ({ metrics, privacy }: Release): unknown => ({
  privacy,
  metrics: metrics.map(({ name, localEpsilon, epsilon, delta, bound }) => ({
    name,
    localEpsilon,
    epsilon,
    delta,
    bound,
  })),
});

it("releases with 0%, 50% and 100% forged reports, and with as many as anybody cares to send, print the same ε", async () => {
  const none = await releaseWith("forged-0", 8, 0);
  const half = await releaseWith("forged-50", 4, 4);
  const all = await releaseWith("forged-100", 0, 8);
  const flooded = await releaseWith("flooded", 0, 24);
  expect([none, half, all, flooded].map(({ status, received }) => [status, received])).toEqual([
    ["released", 8],
    ["released", 8],
    ["released", 8],
    ["released", 24],
  ]);
  for (const release of [half, all, flooded]) expect(guaranteesOf(release)).toEqual(guaranteesOf(none));
  expect(none.privacy.honest).toBe(6);
  const { perWindow } = planTask({ task: TASK, devices: 6, delta: 1e-6, windows: 1 });
  expect(none.privacy.aggregate).toEqual(perWindow.aggregate);
  // Five honest devices do not hide a report that somebody made of a captured state, and that is said.
  expect(none.privacy.hijackedEpsilon).toBeNull();
});
