import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Task } from "@lethe/core/message";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { eventually } from "../../../server/test/eventually.ts";
import { createTask, EXACT_TASK, startTestService, type TestService } from "../../../server/test/service.ts";
import { openLethe } from "../../dist/index.js";
import { fileStore } from "../../dist/node/index.js";
import { type FaultProxy, startFaultProxy } from "../../test/fault-proxy.ts";
import { temporaryFolder } from "../../test/file-store-folder.ts";
import { startStoreProcess } from "../../test/file-store-process.ts";

const WINDOW_MS = 1000 * EXACT_TASK.ticks * EXACT_TASK.tickSeconds;
const TASK: Task = { ...EXACT_TASK, minimumDevices: 1 };
const FOREVER = new AbortController().signal;

let service: TestService;
let proxy: FaultProxy;
beforeAll(async () => {
  service = await startTestService();
  await createTask(service, TASK);
  // Reports never get through: they stay on their way.
  proxy = await startFaultProxy({ service, onReport: () => new Promise(() => {}) });
});
afterAll(async () => {
  await proxy.close();
  await service.remove();
});

/** Counts, comes to the end of its window, and sends; then prints how much it still knows. */
const WRITER = () => `
  import { openLethe } from ${JSON.stringify(new URL("../../dist/index.js", import.meta.url).href)};
  let now = ${service.clock()};
  const lethe = await openLethe({
    server: ${JSON.stringify(proxy.urlOf("writer"))}, task: ${JSON.stringify(TASK.task)},
    operatorKey: ${JSON.stringify(service.operatorKey)}, clock: () => now, store: fileStore(folder),
  });
  while (lethe.inspect().memory.length === 0) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    now += 100;
    await lethe.sendPending();
  }
  lethe.record("happened");
  now = ${service.clock() + WINDOW_MS};
  const sent = lethe.sendPending();
  await sent;
  now += ${WINDOW_MS};
  await lethe.sendPending();
  console.log(JSON.stringify(lethe.inspect()));
  process.stdin.resume();`;

it("consent that one process withdraws ends the report of another, and those that wait", async () => {
  const folder = temporaryFolder();
  const writer = startStoreProcess(folder, WRITER());
  onTestFinished(() => writer.kill());
  const asked = (device: string): number => proxy.requests.filter((request) => request.device === device).length;
  await eventually(async () => proxy.requests.find((request) => request.asked === "report"));
  const open = (name: string, consent: boolean) =>
    openLethe({
      server: proxy.urlOf(name),
      task: TASK.task,
      operatorKey: service.operatorKey,
      clock: service.clock,
      store: fileStore(folder),
      consent,
    });
  const waiting = await open("waiting", true);
  const before = asked("writer");
  const other = await open("other", false);
  // Neither the process that wrote nor the one that waited has anything left.
  expect(existsSync(join(folder, "record"))).toBe(false);
  expect(await writer.line()).toBe(JSON.stringify({ memory: [] }));
  await waiting.sendPending();
  expect([asked("writer") - before, asked("waiting"), asked("other")]).toEqual([0, 0, 0]);
  // As long as those that wait need to look again.
  await sleep(1_200);
  expect(readdirSync(folder)).toEqual([]);
  expect([asked("writer") - before, asked("waiting"), asked("other")]).toEqual([0, 0, 0]);

  await other.setConsent(true);
  await eventually(async () => {
    await other.sendPending();
    return other.inspect().memory.length > 0 || undefined;
  });
  expect(asked("other")).toBeGreaterThan(0);
  for (const lethe of [waiting, other]) await lethe.close();
});

it("a withdrawal whose process was killed is completed by the next one that writes", async () => {
  const folder = temporaryFolder();
  const store = fileStore(folder);
  const release = await store.lock(FOREVER);
  await store.save(new Uint8Array(10), { durable: true });
  await release?.();
  writeFileSync(join(folder, "withdrawn"), "");
  const again = await store.lock(FOREVER);
  expect(await store.load()).toBeUndefined();
  expect(readdirSync(folder)).toEqual(["lock"]);
  await again?.();
});

it("a folder that was never made holds nothing to wipe", async () => {
  const folder = join(temporaryFolder(), "none");
  await fileStore(folder).wipe();
  expect(existsSync(folder)).toBe(false);
});
