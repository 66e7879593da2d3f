import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { WindowStatus } from "@lethe/core/message";
import { afterAll, beforeAll, expect, it } from "vitest";
import { letheWith, type RunningService, START_TIMEOUT, startService } from "../../test/lethe.ts";

/** Commands take seconds on a busy machine, so windows last half a minute, and wait as long for late reports. */
const SECONDS = 30;
const TASK = {
  version: 1,
  tickSeconds: SECONDS / 10,
  ticks: 10,
  graceSeconds: SECONDS,
  mode: "one-server",
  minimumDevices: 10,
  metrics: [{ name: "export.failed", statistic: "occurrence", localEpsilon: 2 }],
};

let folder: string;
let service: RunningService;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "lethe-close-"));
  service = await startService({ cwd: folder, windows: "as the task says" });
}, START_TIMEOUT);
afterAll(async () => {
  service.process.kill("SIGKILL");
  await service.ended;
  rmSync(folder, { recursive: true });
});

function run(...args: string[]) {
  return letheWith({ cwd: folder, env: { LETHE_SERVER: service.url } }, ...args);
}

/** Creates a task and returns its first window. */
function create(task: string): number {
  writeFileSync(join(folder, `${task}.json`), JSON.stringify({ ...TASK, task }));
  const { manifest } = JSON.parse(run("task", "create", `${task}.json`, "--json").stdout) as {
    manifest: { fromWindow: number };
  };
  return manifest.fromWindow;
}

function untilBeginningOf(window: number): Promise<void> {
  return sleep(Math.max(0, 1000 * SECONDS * window - Date.now()) + 500);
}

it("task close takes the window that waits for late reports, and the running one if it is named", async () => {
  // A task begins in the running window, which must not end before the commands.
  await untilBeginningOf(Math.floor(Date.now() / 1000 / SECONDS) + 1);
  const running = Math.max(create("first"), create("second"));
  await untilBeginningOf(running);
  const none = run("task", "close", "second");
  expect(none).toMatchObject({ status: 2, stdout: "" });
  expect(none.stderr).toMatch(
    new RegExp(`^error: no window of second waits for late reports; window ${running} runs until .*\\n$`),
  );
  expect(run("task", "close", "second", `${running}`).stdout).toMatch(
    new RegExp(`^window ${running} of second is (closed|not-enough) with 0 reports, at least 10 needed: `),
  );
  await untilBeginningOf(running + 1);
  // Of the other task that window is in grace; of this one an admin closed it.
  const closed = JSON.parse(run("task", "close", "first", "--json").stdout) as WindowStatus;
  expect(closed).toMatchObject({ window: running, received: 0 });
  expect(run("task", "close", "second").status).toBe(2);
});
