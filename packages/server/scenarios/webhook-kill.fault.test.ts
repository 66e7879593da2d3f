import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { enrol, fetchTask } from "../test/device.ts";
import { eventually } from "../test/eventually.ts";
import { copyEmptyDatabase, temporaryFolder } from "../test/folder.ts";
import { isFrom, startReceiver } from "../test/receiver.ts";
import { runningWindow, YEAR_TASK } from "../test/recount.ts";
import { ADMIN_TOKEN, closeByHand, createTask } from "../test/service.ts";
import { type ServiceProcess, startServiceProcess } from "../test/service-process.ts";

it("an outcome arrives although the service is killed before it posts it, and before it hears the answer", async () => {
  const folder = temporaryFolder();
  let life = 0;
  const reserved = await startReceiver();
  await reserved.close();
  const settings = {
    ...{ data: join(folder, "data"), keyFile: join(folder, "keys"), adminToken: ADMIN_TOKEN },
    ...{ host: "127.0.0.1", port: 0, threads: 1, keysAhead: 4, leaseSeconds: 1, webhookMilliseconds: 2000 },
    webhook: `${reserved.url}/outcomes`,
  };
  await copyEmptyDatabase(settings.data);
  const start = async (): Promise<ServiceProcess> => {
    const started = await startServiceProcess(settings);
    onTestFinished(() => started.kill().catch(() => undefined));
    return started;
  };
  const first = await start();
  await createTask(first, YEAR_TASK);
  const window = runningWindow(YEAR_TASK);
  await enrol(first, await fetchTask(first, YEAR_TASK.task), window);
  await closeByHand(first, YEAR_TASK.task, window);
  const path = `/v1/tasks/${YEAR_TASK.task}/releases/${window}`;
  const published = await eventually(async () => {
    const answer = await fetch(first.url + path);
    return answer.status === 200 ? answer.text() : undefined;
  });
  // Nobody listened until now.
  await first.kill();
  const receiver = await startReceiver((_, response) => {
    if (life === 3) response.writeHead(204).end();
  }, reserved.port);
  onTestFinished(() => receiver.close());
  for (life = 1; life < 3; life++) {
    const before = receiver.posts.length;
    const service = await start();
    await eventually(async () => receiver.posts.length > before || undefined);
    await service.kill();
  }
  const last = await start();
  await eventually(async () => {
    const text = await (await fetch(`${last.url}/metrics`)).text();
    return /^lethe_webhook_waiting 0$/m.test(text) || undefined;
  });
  expect(receiver.posts.length).toBeGreaterThanOrEqual(3);
  expect(new Set(receiver.posts.map(({ body }) => body))).toEqual(new Set([published]));
  expect(new Set(receiver.posts.map(({ id }) => id)).size).toBe(1);
  for (const post of receiver.posts) expect(isFrom(last.operatorKey, post)).toBe(true);
  expect(await last.end()).toBe(0);
});
