import { Agent, request } from "node:http";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { enrol, fetchTask, reportOf, upload } from "../../test/device.ts";
import { eventually } from "../../test/eventually.ts";
import { copyEmptyDatabase, temporaryFolder } from "../../test/folder.ts";
import { MONTHS_TASK, WINDOW } from "../../test/processes.ts";
import { ADMIN_TOKEN, createTask } from "../../test/service.ts";
import { startServiceProcess } from "../../test/service-process.ts";

it("a service that runs out of file descriptors logs it in one line, keeps working, and takes connections again", async () => {
  const folder = temporaryFolder();
  await copyEmptyDatabase(join(folder, "data"));
  const service = await startServiceProcess(
    {
      data: join(folder, "data"),
      keyFile: join(folder, "keys"),
      adminToken: ADMIN_TOKEN,
      host: "127.0.0.1",
      port: 0,
      threads: 1,
    },
    { mostFiles: 256 },
  );
  onTestFinished(() => service.kill());
  await createTask(service, MONTHS_TASK);
  const task = await fetchTask(service, MONTHS_TASK.task);
  const device = await enrol(service, task, WINDOW);

  // A client that is there already.
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  const ready = (): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      request(`${service.url}/readyz`, { agent }, (response) =>
        response.resume().on("end", () => resolve(response.statusCode)),
      )
        .on("error", reject)
        .end();
    });
  expect(await ready()).toBe(200);
  const { hostname, port } = new URL(service.url);
  const sockets: Socket[] = [];
  for (let i = 0; i < 300; i++) sockets.push(connect(Number(port), hostname).on("error", () => undefined));
  await eventually(async () => (service.logged.length > 0 ? true : undefined));
  // The database opens its own files.
  expect(await ready()).toBe(200);
  for (const socket of sockets) socket.destroy();

  const uploaded = await eventually(() => upload(service, device, reportOf(device)).catch(() => undefined));
  expect(uploaded.status).toBe(201);
  expect(service.logged.map((line) => JSON.parse(line) as unknown)).toEqual([
    expect.objectContaining({ level: 40, msg: expect.stringContaining("out of file descriptors") }),
  ]);
});
