import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { enrol, fetchTask } from "../test/device.ts";
import { eventually } from "../test/eventually.ts";
import { copyEmptyDatabase, temporaryFolder } from "../test/folder.ts";
import { isFrom, startReceiver } from "../test/receiver.ts";
import { runningWindow, YEAR_TASK } from "../test/recount.ts";
import { ADMIN_TOKEN, closeByHand, createTask } from "../test/service.ts";
import { type ServiceProcess, startServiceProcess, unlessGone } from "../test/service-process.ts";

it("an outcome arrives although the service is killed before it posts it, and before it hears the answer", async () => {
  const folder = temporaryFolder();
  let service: ServiceProcess | undefined;
  let kills = 0;
  const reserved = await startReceiver();
  await reserved.close();
  const settings = {
    ...{ data: join(folder, "data"), keyFile: join(folder, "keys"), adminToken: ADMIN_TOKEN },
    ...{ host: "127.0.0.1", port: 0, threads: 1, keysAhead: 4, leaseSeconds: 1, webhookMilliseconds: 1000 },
    webhook: `${reserved.url}/outcomes`,
  };
  await copyEmptyDatabase(settings.data);
  const start = async (): Promise<ServiceProcess> => {
    const started = await startServiceProcess(settings);
    onTestFinished(() => started.kill().catch(() => undefined));
    return started;
  };
  service = await start();
  await createTask(service, YEAR_TASK);
  const window = runningWindow(YEAR_TASK);
  await enrol(service, await fetchTask(service, YEAR_TASK.task), window);
  await closeByHand(service, YEAR_TASK.task, window);
  const path = `/v1/tasks/${YEAR_TASK.task}/releases/${window}`;
  const published = await eventually(async () => {
    const answer = await fetch(`${service?.url}${path}`).catch(unlessGone);
    return answer?.status === 200 ? answer.text() : undefined;
  });
  // Nobody listened until now.
  await service.kill();
  const receiver = await startReceiver((_, response) => {
    if (kills++ < 2) void service?.kill();
    else response.writeHead(204).end();
  }, reserved.port);
  onTestFinished(() => receiver.close());
  for (let life = 1; life <= 3; life++) {
    service = await start();
    await eventually(async () => receiver.posts.length >= life || undefined);
  }
  const last = service;
  await eventually(async () =>
    /^lethe_webhook_waiting 0$/m.test(await (await fetch(`${last.url}/metrics`)).text()) ? true : undefined,
  );
  expect(receiver.posts.map(({ body }) => body)).toEqual([published, published, published]);
  expect(new Set(receiver.posts.map(({ id }) => id)).size).toBe(1);
  for (const post of receiver.posts) expect(isFrom(last.operatorKey, post)).toBe(true);
  expect(await last.end()).toBe(0);
});
