import { decodePublicKeys, encodeReport, parseTask, type Task, windowAt, windowSeconds } from "@lethe/core/message";
import { randomnessFrom } from "@lethe/core/randomness";
import { expect } from "vitest";
import { type Device, enrol, fetchTask, type KnownTask, upload } from "../../server/test/device.ts";
import { eventually } from "../../server/test/eventually.ts";
import { createTask, startTestService, type TestService } from "../../server/test/service.ts";

/** Metrics of every statistic, and groups of which the last is always too small. */
export const TASK: Task = parseTask(
  JSON.stringify({
    ...{ version: 1, task: "editor-use", tickSeconds: 60, ticks: 4, graceSeconds: 60, mode: "one-server" },
    ...{ scheme: "elgamal", minimumDevices: 3, groups: ["stable", "beta", "canary"] },
    metrics: [
      { name: "failed", statistic: "occurrence", event: "export.failed" },
      { name: "clicks", statistic: "histogram", event: "export.used", edges: [0, 1, 2] },
      { name: "tabs", statistic: "mean", event: "tab.opened", limit: 3, sigma: 1 },
      { name: "checkout", statistic: "funnel", steps: ["cart.opened", "paid"] },
      { name: "format", statistic: "choice", options: ["pdf", "png"], keep: "first" },
      { name: "days", statistic: "active-periods", event: "export.used", periodTicks: 2, edges: [0, 1, 2] },
      { name: "weeks", statistic: "retention", event: "export.used", periods: 2 },
      {
        ...{ name: "paid.format", statistic: "joint" },
        of: [
          { statistic: "occurrence", event: "paid" },
          { statistic: "choice", options: ["pdf", "png"], keep: "first" },
        ],
      },
    ].map((metric) => ("sigma" in metric ? metric : { ...metric, localEpsilon: 3 })),
  }),
);

/** What happens on the i-th device, in its first tick. */
function eventsOn(i: number): string[] {
  return [
    ...(i % 2 === 0 ? ["export.failed", "export.used"] : []),
    ...(i % 3 === 0 ? ["tab.opened", "tab.opened"] : []),
    ...(i % 4 < 3 ? ["cart.opened"] : []),
    ...(i % 4 < 2 ? ["paid", "pdf"] : ["png"]),
  ];
}

function reportWith({ task, publicKeys }: Device, events: readonly string[]): Uint8Array {
  const random = randomnessFrom(globalThis.crypto);
  const keys = decodePublicKeys(task.layout, publicKeys);
  const sealed = task.layout.map((part, i) => {
    const recorder = part.device.start(keys[i] as Uint8Array, random);
    for (const event of events) {
      const place = part.device.events.indexOf(event);
      if (place >= 0) recorder.record(place);
    }
    let stored = recorder.write();
    for (let tick = 1; tick < task.manifest.ticks; tick++) {
      recorder.reach(tick);
      stored = recorder.write();
    }
    return recorder.seal(stored as Uint8Array);
  });
  return encodeReport(task.hash, sealed);
}

/** A service with a running window, and before it windows of all kinds. */
export interface Released {
  readonly service: TestService;
  /** The newest window, which is released, and the one before it, which had too few devices. */
  readonly released: number;
  readonly notEnough: number;
}

/** How many windows the service is away. It knows all but the last, because devices could enrol before it stopped. */
const AWAY = 3;

/** One window is released; then the service is away; then one has too few devices, and the last one is released. */
export async function startReleased(): Promise<Released> {
  const service = await startTestService();
  await createTask(service, TASK);
  const task = await fetchTask(service, TASK.task);
  const first = windowAt(TASK, service.clock() / 1000);
  const length = windowSeconds(TASK);
  await fill(service, task, first, [5, 5, 2]);
  await finish(service, first, length);
  await service.stop();
  service.clock.advance(AWAY * length);
  await service.restart();
  const next = first + AWAY + 1;
  await fill(service, task, next, [1, 2, 1]);
  await finish(service, next, length);
  await fill(service, task, next + 1, [6, 4, 2]);
  await finish(service, next + 1, length);
  return { service, released: next + 1, notEnough: next };
}

async function fill(service: TestService, task: KnownTask, window: number, sizes: readonly number[]): Promise<void> {
  const groups = TASK.groups ?? [];
  for (const [g, size] of sizes.entries()) {
    for (let i = 0; i < size; i++) {
      const device = await enrol(service, task, window, {}, groups[g]);
      expect((await upload(service, device, reportWith(device, eventsOn(i + g)))).status).toBe(201);
    }
  }
}

/** Moves the clock to where the window is closed, and waits for what is published. */
async function finish(service: TestService, window: number, length: number): Promise<void> {
  const end = (window + 1) * length + TASK.graceSeconds + 1;
  service.clock.advance(Math.max(0, end - service.clock() / 1000));
  await eventually(async () => {
    const answer = await fetch(`${service.url}/v1/tasks/${TASK.task}/releases/${window}`);
    return answer.status === 200 ? true : undefined;
  });
}
