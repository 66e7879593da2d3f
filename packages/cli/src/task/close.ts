import type { Manifest, WindowStatus } from "@lethe/core/message";
import { requireAdminToken } from "../options/admin-token.ts";
import { resultsCommand } from "../print/results-command.ts";
import { count } from "../print/table.ts";
import { utcAndLocal } from "../print/time.ts";
import { askJson, fetchManifest, taskPath } from "../service-client.ts";
import { failure } from "../system/failure.ts";
import { findStatus, oldestInGrace, runningWindow, timesOf } from "../window.ts";

export async function closeTaskWindow(
  task: string,
  window: number | undefined,
  { server, json }: { readonly server: string; readonly json?: boolean },
): Promise<void> {
  const token = requireAdminToken();
  const manifest = await fetchManifest(server, task);
  const chosen = window ?? (await newestInGrace(server, manifest));
  const path = `${taskPath(task)}/windows/${chosen}/close`;
  const status = await askJson<WindowStatus>(server, path, { method: "POST", token });
  console.log(json ? JSON.stringify(status) : describe(status, resultsCommand(manifest, { window: chosen })));
}

async function newestInGrace(server: string, manifest: Manifest): Promise<number> {
  const running = runningWindow(manifest);
  for (let window = running - 1; window >= oldestInGrace(manifest); window--) {
    const status = await findStatus(server, manifest.task, window);
    if (!status) break;
    if (status.state === "grace") return window;
  }
  const { to } = timesOf(manifest, running);
  throw failure(
    `no window of ${manifest.task} waits for late reports; window ${running} runs until ${utcAndLocal(to)}: name it to ` +
      "close it all the same",
  );
}

function describe({ task, window, state, received, minimumDevices }: WindowStatus, next: string): string {
  return `window ${window} of ${task} is ${state} with ${count(received)} reports, at least ${count(minimumDevices)} needed: ${next}`;
}
