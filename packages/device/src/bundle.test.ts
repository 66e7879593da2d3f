import type { Task } from "@lethe/core/message";
import { expect, it } from "vitest";
import { eventually } from "../../server/test/eventually.ts";
import { createTask, EXACT_TASK, startTestService } from "../../server/test/service.ts";
import type { openLethe as OpenLethe } from "../dist/index.js";

const WINDOW_SECONDS = EXACT_TASK.ticks * EXACT_TASK.tickSeconds;
/** Answers as good as exact. Two of them count the same event. */
const METRICS: Task["metrics"] = [
  { name: "happened", statistic: "occurrence", localEpsilon: 16 },
  { name: "times", statistic: "histogram", edges: [0, 1, 2], localEpsilon: 16, eventsPerTick: 3 },
  { name: "average", event: "times", statistic: "mean", limit: 3, sigma: 0.01, eventsPerTick: 3 },
];

interface Estimated {
  readonly name: string;
  readonly estimate?: number;
  readonly buckets?: readonly { readonly estimate: number }[];
}

// Its properties have shorter names than those of the modules it was made from.
it.each([
  ["lethe.js", "lattice"],
  ["lethe.js", "elgamal"],
  ["lethe-all.js", "lattice"],
  ["lethe-all.js", "elgamal"],
] as const)("the SDK for pages without a bundler counts: %s, %s", async (name, scheme) => {
  const file = new URL(`../dist/browser/${name}`, import.meta.url).href;
  const { openLethe } = (await import(file)) as { openLethe: typeof OpenLethe };
  const service = await startTestService();
  const task: Task = { ...EXACT_TASK, scheme, hides: 10, minimumDevices: 2, metrics: METRICS };
  await createTask(service, task);
  const options = { server: service.url, task: task.task, operatorKey: service.operatorKey, clock: service.clock };
  const window = service.clock() / 1000 / WINDOW_SECONDS;
  const devices = await Promise.all([openLethe(options), openLethe(options)]);
  for (const lethe of devices) {
    await eventually(async () => {
      await lethe.sendPending();
      if (lethe.inspect().memory.length > 0) return true;
      service.clock.advance(1);
      return undefined;
    });
  }
  for (const event of ["happened", "times"]) devices[0]?.record(event, 2);
  service.clock.advance(WINDOW_SECONDS - ((service.clock() / 1000) % WINDOW_SECONDS));
  for (const lethe of devices) await lethe.sendPending();
  service.clock.advance(task.graceSeconds + 1);
  const release = await eventually(async () => {
    const answer = await fetch(`${service.url}/v1/tasks/${task.task}/releases/${window}`);
    return answer.ok ? ((await answer.json()) as { received: number; metrics: Estimated[] }) : undefined;
  });
  const [happened, times, average] = release.metrics;
  expect(release.received).toBe(2);
  expect(Math.round(happened?.estimate ?? Number.NaN)).toBe(1);
  expect(times?.buckets?.map(({ estimate }) => Math.abs(Math.round(estimate)))).toEqual([1, 0, 1]);
  expect(Math.round(average?.estimate ?? Number.NaN)).toBe(1);
  for (const lethe of devices) await lethe.close();
  await service.remove();
});
