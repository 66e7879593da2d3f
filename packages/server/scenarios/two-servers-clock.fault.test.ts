import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Task, windowAt } from "@lethe/core/message";
import type { ServerRole } from "@lethe/core/two-server";
import { expect, it, onTestFinished } from "vitest";
import { eventually } from "../test/eventually.ts";
import { copyEmptyDatabase, temporaryFolder } from "../test/folder.ts";
import { windowsIn } from "../test/key-file.ts";
import { ADMIN_TOKEN, closeByHand } from "../test/service.ts";
import { type ServiceProcess, startServiceProcess } from "../test/service-process.ts";
import { createShiftedClock } from "../test/shifted-clock.ts";
import {
  collect,
  enrolShared,
  makeKeyFiles,
  makeTask,
  PEER_SECRET,
  SHARED_TASK,
  sendShared,
  sharedReport,
} from "../test/two-servers.ts";

const TASK: Task = { ...SHARED_TASK, tickSeconds: 600, metrics: SHARED_TASK.metrics.slice(0, 2) };
/** A helper gives a window up a week after it should have been finished. */
const TEN_DAYS = 10 * 86_400;
const ROLES = ["helper", "leader"] as const;

it("a leader or a helper whose clock jumps finishes, gives up and erases nothing; both count everything when it is back", async () => {
  const folder = temporaryFolder();
  const files = makeKeyFiles(folder);
  const clocks = { leader: createShiftedClock(TASK), helper: createShiftedClock(TASK) };
  const start = async (role: ServerRole, url?: string): Promise<ServiceProcess> => {
    const data = join(folder, role);
    await copyEmptyDatabase(data);
    const operatorKey = files[role === "leader" ? "helper" : "leader"].key;
    const peer = { secret: PEER_SECRET, operatorKey, ...(url !== undefined && { url }) };
    const common = { adminToken: ADMIN_TOKEN, host: "127.0.0.1", port: 0, threads: 1, keysAhead: 10, leaseSeconds: 1 };
    const started = await startServiceProcess(
      { ...common, role, data, keyFile: files[role].path, peer },
      { clock: clocks[role] },
    );
    onTestFinished(() => started.kill().catch(() => undefined));
    return started;
  };
  const helper = await start("helper");
  const leader = await start("leader", helper.url);
  const servers = { leader, helper, keys: { leader: files.leader.key, helper: files.helper.key } };
  const task = await makeTask(servers, TASK);
  const window = windowAt(TASK, clocks.leader.now());
  const send = async (): Promise<void> => {
    const device = await enrolShared(servers, task, window);
    const body = await sharedReport(task, window, device, ["happened", "counted"]);
    expect((await sendShared(servers, TASK.task, window, device, body)).status).toBe(201);
  };
  await send();
  const readiness = async (role: ServerRole): Promise<string> => (await fetch(`${servers[role].url}/readyz`)).text();

  for (const role of ROLES) {
    clocks[role].jump(TEN_DAYS);
    await sleep(500);
    for (const each of ROLES) {
      expect(windowsIn(files[each].path, TASK.task)).toContain(window);
      const release = await fetch(`${servers[each].url}/v1/tasks/${TASK.task}/releases/${window}`);
      expect({ each, status: release.status }).toEqual({ each, status: 425 });
    }
    expect(await readiness(role)).toMatch(/^not ready: clocks-apart: the clock says /);
    clocks[role].jump(-TEN_DAYS);
    for (const each of ROLES) await eventually(async () => (await readiness(each)) === "ready\n" || undefined);
  }
  await send();
  await send();
  expect((await closeByHand(leader, TASK.task, window)).status).toBe(200);
  const { metrics, received } = await collect(servers, task, window);
  expect(received).toBe(3);
  for (const metric of metrics) expect((metric as { estimate: number }).estimate).toBeCloseTo(3, 0);
});
