import { afterEach, expect, it } from "vitest";
import { enrolMany, fetchTask, reportOf, upload } from "../test/device.ts";
import { eventually } from "../test/eventually.ts";
import { windowsIn } from "../test/key-file.ts";
import { closeByHand, createTask, EXACT_TASK, startTestService, type TestService } from "../test/service.ts";

let service: TestService;

afterEach(() => service.remove());

/** The database is an older copy, from before a release whose secret is destroyed. */
async function restoreFromWithinWindow(): Promise<number> {
  service = await startTestService();
  await createTask(service, EXACT_TASK);
  const task = await fetchTask(service, EXACT_TASK.task);
  const window = Math.floor(service.clock() / 120_000);
  for (const device of await enrolMany(service, task, window, 3)) await upload(service, device, reportOf(device));
  await service.stop();
  const restore = await service.backup();
  await service.restart();
  await closeByHand(service, task.name, window);
  await eventually(async () => (windowsIn(service.keyFile, task.name).includes(window) ? undefined : true));
  await service.stop();
  await restore();
  return window;
}

it("a restored database whose window was released meanwhile is refused, and told how to go on", async () => {
  await restoreFromWithinWindow();
  await expect(service.restart()).rejects.toThrow(
    /^the key file holds no secret for window \d+ of exact, .* restore the key file, or .*--abandon-lost-windows$/,
  );
});

it("with the windows given up it starts, reports them as lost, and the others go on", async () => {
  const window = await restoreFromWithinWindow();
  await service.restart({ abandonLostWindows: true });
  const path = `${service.url}/v1/tasks/${EXACT_TASK.task}`;
  const release = (await (await fetch(`${path}/releases/${window}`)).json()) as { status: string; received: number };
  expect(release).toMatchObject({ status: "lost", received: 3 });
  expect(await (await fetch(`${path}/windows/${window}`)).json()).toMatchObject({ state: "lost" });
  const task = await fetchTask(service, EXACT_TASK.task);
  expect(await enrolMany(service, task, window + 1, 2)).toHaveLength(2);
  await service.restart({ abandonLostWindows: false });
});
