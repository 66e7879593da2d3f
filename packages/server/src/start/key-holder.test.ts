import { join } from "node:path";
import type { Worker } from "node:worker_threads";
import { openService } from "@lethe/server";
import { expect, it, onTestFinished, vi } from "vitest";
import { copyEmptyDatabase, temporaryFolder } from "../../test/folder.ts";
import { ADMIN_TOKEN, SILENT } from "../../test/service.ts";

/** Threads that were started from now on, and run. */
function watchThreads(): () => number {
  const started: Worker[] = [];
  const note = (thread: Worker): void => void started.push(thread);
  process.on("worker", note);
  onTestFinished(() => void process.off("worker", note));
  return () => started.filter(({ threadId }) => threadId !== -1).length;
}

it("a leader without the address of its helper does not start, and leaves no thread behind", async () => {
  const folder = temporaryFolder();
  const data = join(folder, "data");
  await copyEmptyDatabase(data);
  const running = watchThreads();
  const starting = openService({
    role: "leader",
    data,
    keyFile: join(folder, "keys.json"),
    adminToken: ADMIN_TOKEN,
    host: "127.0.0.1",
    port: 0,
    log: SILENT,
    threads: 2,
    peer: { secret: "s".repeat(32), operatorKey: `ed25519:${"A".repeat(43)}` },
  });
  await expect(starting).rejects.toMatchObject({
    code: "bad-role",
    message: "a leader needs the address of its helper",
  });
  await vi.waitFor(() => expect(running()).toBe(0), { timeout: 10_000 });
});
